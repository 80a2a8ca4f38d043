/** The editor with the verdict on what it has. */
import { useEffect, useRef, useState } from "preact/hooks";
import { loadShape } from "../schema/openapi";
import { Icon } from "../ui/Icon";
import { checkText, type Target, type Verdict } from "./check";
import { YamlEditor } from "./codemirror";

const PAUSE = 400; // milliseconds without a key before the server is asked

interface Props {
  target: Target;
  text: string;
  onChange: (text: string) => void;
  onSave: () => void;
  readOnly?: boolean;
  check: boolean;
}

export function TextEditor({ target, text, onChange, onSave, readOnly = false, check }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<YamlEditor | null>(null);
  const handlers = useRef({ onChange, onSave });
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [asking, setAsking] = useState(false);
  handlers.current = { onChange, onSave };
  const { kind, base } = target;

  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new YamlEditor(
      place.current,
      text,
      (given) => handlers.current.onChange(given),
      () => handlers.current.onSave(),
      `${kind.kind} as YAML`,
    );
    editor.current = made;
    loadShape(kind).then(
      (shape) => made.setShape(shape),
      () => undefined,
    );
    return () => {
      editor.current = null;
      made.close();
    };
  }, [kind]);
  useEffect(() => {
    if (editor.current !== null) editor.current.text = text;
  }, [text]);
  useEffect(() => editor.current?.setReadOnly(readOnly), [readOnly, kind]);
  useEffect(() => {
    if (!check) {
      setVerdict(null);
      editor.current?.setMarks([]);
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      setAsking(true);
      checkText(target, text, controller.signal)
        .then((found) => {
          setVerdict(found);
          editor.current?.setMarks(found.marks);
        })
        .catch(() => undefined)
        .finally(() => setAsking(false));
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, check, base?.metadata.resourceVersion]);

  const count = (verdict?.marks.length ?? 0) + (verdict?.general.length ?? 0);
  return (
    <div class="text-editor panel">
      <div ref={place} class="editor-place" />
      <div class="verdict" role="status" aria-live="polite">
        {!check ? (
          <span class="dim">
            {readOnly ? "Read only" : "Change the text, and the server says whether it would accept it"}
          </span>
        ) : asking && verdict === null ? (
          <span class="dim">Asking the server…</span>
        ) : verdict === null ? null : verdict.sound ? (
          <span class="verdict-good">
            <Icon name="check" size={15} /> The server would accept this
          </span>
        ) : verdict.conflict ? (
          <span class="dim">Changed by somebody else</span>
        ) : (
          <span class="verdict-bad">
            <Icon name="alert" size={15} /> {count === 1 ? "One problem" : `${count} problems`}
          </span>
        )}
        {verdict !== null &&
          (verdict.general.length > 0 || verdict.marks.length > 0 || verdict.warnings.length > 0) && (
            <ul>
              {verdict.marks.map((mark, index) => (
                <li key={index}>
                  <button type="button" class="to-line" onClick={() => editor.current?.reveal(mark.from)}>
                    line {text.slice(0, mark.from).split("\n").length}
                  </button>{" "}
                  {mark.message}
                </li>
              ))}
              {verdict.general.map((one) => (
                <li key={one}>{one}</li>
              ))}
              {verdict.warnings.map((one) => (
                <li key={one} class="warning">
                  Warning: {one}
                </li>
              ))}
            </ul>
          )}
      </div>
    </div>
  );
}
