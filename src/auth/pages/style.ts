/**
 * The style of every page. Text has a contrast of at least 4.5:1 and borders of 3:1 on both backgrounds (WCAG 2.2, 1.4.3 and 1.4.11),
 * and targets are at least 44 px high (2.5.5).
 */
export const style = `
:root {
  color-scheme: light dark;
  --page: #f2f4f7; --card: #ffffff; --text: #1a1d21; --muted: #4a5361; --line: #757d89;
  --accent: #1a56db; --accent-strong: #1544ad; --on-accent: #ffffff; --fault: #b3261e; --done: #146c2e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101318; --card: #1a1e25; --text: #e9ecf0; --muted: #b4bcc8; --line: #8a93a0;
    --accent: #8ab4ff; --accent-strong: #b3ceff; --on-accent: #0a1a36; --fault: #ffb4ab; --done: #7fd99a;
  }
}
*, ::before, ::after { box-sizing: border-box; }
body {
  margin: 0; padding: 24px 16px; min-height: 100vh; min-height: 100svh;
  display: flex; flex-direction: column; align-items: center;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
}
header, main, footer { width: 100%; max-width: 28rem; }
header { margin-top: clamp(0px, 6vh - 8px, 4rem); font-weight: 600; text-align: center; }
main { margin: 16px 0; padding: 24px; background: var(--card); border: 1px solid transparent; border-radius: 12px; box-shadow: 0 1px 3px #0003; }
footer { text-align: center; color: var(--muted); font-size: 0.9375rem; }
h1 { margin: 0 0 12px; font-size: 1.375rem; line-height: 1.25; text-wrap: balance; }
p, ul, form { margin: 0 0 16px; }
main > :last-child, form > :last-child { margin-bottom: 0; }
ul { padding-left: 1.25rem; }
li { margin-bottom: 4px; }
.note { color: var(--muted); font-size: 0.9375rem; }
.mark { display: block; width: 40px; height: 40px; margin-bottom: 12px; color: var(--done); }
.mark.fault { color: var(--fault); }
label { display: block; font-weight: 600; }
.hint { margin: 0; color: var(--muted); font-size: 0.9375rem; }
.fault-text { margin: 4px 0 0; color: var(--fault); font-weight: 600; }
input {
  display: block; width: 100%; min-height: 44px; margin: 6px 0 16px; padding: 8px 12px;
  border: 1px solid var(--line); border-radius: 8px; background: var(--card); color: var(--text); font: inherit;
}
input[aria-invalid] { border-color: var(--fault); }
button, a.button {
  display: block; width: 100%; min-height: 44px; padding: 10px 20px; border: 1px solid transparent; border-radius: 8px;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
#passkey .fault-text:not(:empty) { margin-bottom: 12px; }
button[aria-disabled] { background: var(--muted); color: var(--card); cursor: default; }
a.way { display: block; min-height: 44px; padding: 10px; text-align: center; }
button:not([aria-disabled]):hover, a.button:hover { background: var(--accent-strong); }
a { color: var(--accent); }
footer p { margin: 0; }
footer a { display: inline-block; min-height: 44px; padding: 10px 4px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[hidden] { display: none; }
@media (max-width: 24rem) { main { padding: 20px 16px; } }
@media (forced-colors: active) { main { border-color: CanvasText; } button, a.button { border-color: ButtonText; } }
`
