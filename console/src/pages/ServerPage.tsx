export function ServerPage() {
  return null;
}
