/** The YAML editor. It lives in a shadow root, where CodeMirror's styles need no inline style element. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Shape } from "../schema/shape";
import { explainKey, suggest } from "./complete";

export interface Mark {
  from: number;
  to: number;
  message: string;
  severity: "error" | "warning";
}

const style = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-key)" },
  { tag: [tags.string, tags.content], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator], color: "var(--dim)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--panel)", color: "var(--text)", height: "100%" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--dim)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "8px",
    boxShadow: "var(--shadow-high)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12.5px" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "4px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionInfo": { maxWidth: "360px", whiteSpace: "pre-wrap", padding: "8px 10px" },
  ".cm-completionDetail": { opacity: "0.7", fontStyle: "normal", marginLeft: "1em" },
  ".cm-hover": { padding: "8px 12px", maxWidth: "420px", fontSize: "13px", whiteSpace: "pre-wrap" },
  ".cm-hover strong": { fontFamily: "var(--mono)", display: "block" },
  ".cm-diagnostic": { padding: "6px 10px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "3px",
  },
  ".cm-foldGutter span": { cursor: "pointer" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
});

export class YamlEditor {
  private readonly view: EditorView;
  private readonly writable = new Compartment();
  private shape: Shape | null = null;
  private quiet = false;

  constructor(parent: HTMLElement, text: string, onChange: (text: string) => void, onSave: () => void, label: string) {
    const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
    root.replaceChildren();
    this.view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          highlightSelectionMatches(),
          lintGutter(),
          yaml(),
          syntaxHighlighting(style),
          indentUnit.of("  "),
          look,
          tooltips({ position: "fixed" }),
          autocompletion({ override: [(context) => this.complete(context.pos, context.explicit)] }),
          hoverTooltip((view, pos) => this.explain(view, pos)),
          keymap.of([
            { key: "Mod-s", run: () => (onSave(), true) },
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...searchKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            indentWithTab,
          ]),
          EditorView.updateListener.of(
            (update) => update.docChanged && !this.quiet && onChange(update.state.doc.toString()),
          ),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false" }),
          this.writable.of(EditorState.readOnly.of(false)),
        ],
      }),
    });
  }

  private complete(pos: number, explicit: boolean) {
    if (this.shape === null) return null;
    const { doc } = this.view.state;
    const line = doc.lineAt(pos);
    const found = suggest(this.shape, doc.toString(), line.number - 1, pos - line.from);
    if (found === null || found.options.length === 0) return null;
    const from = line.from + found.from;
    if (!explicit && from === pos && !/[:-]\s$/.test(line.text.slice(0, pos - line.from))) return null;
    return { from, options: found.options, validFor: /^[\w.-]*$/ };
  }

  private explain(view: EditorView, pos: number) {
    const line = view.state.doc.lineAt(pos);
    const found = this.shape === null ? null : explainKey(this.shape, view.state.doc.toString(), line.number - 1);
    if (found === null) return null;
    const create = () => {
      const dom = document.createElement("div");
      dom.className = "cm-hover";
      const title = document.createElement("strong");
      title.textContent = found.title;
      dom.append(title, found.lines.join("\n"));
      return { dom };
    };
    return { pos: line.from, end: line.to, create };
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(given: string) {
    if (given === this.text) return;
    this.quiet = true;
    const { doc, selection } = this.view.state;
    const anchor = Math.min(selection.main.head, given.length);
    this.view.dispatch({ changes: { from: 0, to: doc.length, insert: given }, selection: { anchor } });
    this.quiet = false;
  }

  setShape(shape: Shape | null): void {
    this.shape = shape;
  }

  setReadOnly(readOnly: boolean): void {
    this.view.dispatch({ effects: this.writable.reconfigure(EditorState.readOnly.of(readOnly)) });
  }

  setMarks(marks: Mark[]): void {
    const length = this.view.state.doc.length;
    const found = marks.map((mark): Diagnostic => ({
      ...mark,
      from: Math.min(mark.from, length),
      to: Math.min(mark.to, length),
    }));
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  /** Show a position, and put the cursor there. */
  reveal(position: number): void {
    this.view.dispatch({ selection: { anchor: Math.min(position, this.view.state.doc.length) }, scrollIntoView: true });
    this.view.focus();
  }

  close(): void {
    this.view.destroy();
  }
}
