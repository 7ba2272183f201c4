// Untrusted text inside documents: HTML and SVG, and Markdown.
import { escapeLine } from './escape-line.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for an element or a quoted attribute of HTML, SVG or other XML: one line, without mark-up of its own. */
export function escapeMarkup(text: string): string {
  return escapeLine(text).replaceAll(/[&<>"']/g, (mark) => entities[mark] ?? '')
}

/**
 * Text for Markdown: a code span, in which nothing is mark-up. The fence is longer than any run of backticks inside, and
 * padded, as CommonMark requires.
 */
export function formatCodeSpan(text: string): string {
  const line = escapeLine(text)
  const runs = line.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1)
  const padding = runs.length > 0 ? ' ' : ''
  return `${fence}${padding}${line}${padding}${fence}`
}
