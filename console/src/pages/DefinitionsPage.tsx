export function DefinitionsPage() {
  return null;
}
