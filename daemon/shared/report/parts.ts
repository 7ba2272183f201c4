// Parts of a report: a verdict, figures, facts, tables. Each is the same in every report.
import { abridge, html, type Markup } from './markup.ts'

export type ReportTone = 'good' | 'fair' | 'poor' | 'plain'

const max_cell_characters = 300

/** The answer to the reader's first question, with its reasons. */
export function renderCallout(tone: ReportTone, title: string, reasons: readonly string[]): Markup {
  const list = reasons.length > 1 ? html`<ul>${reasons.map((reason) => html`<li>${reason}</li>`)}</ul>` : undefined
  return html`<div class="verdict ${tone}"><p><strong>${title}</strong> ${reasons.length === 1 ? reasons[0] : undefined}</p>${list}</div>`
}

export type ReportFigure = {
  readonly name: string
  readonly value: string
  /** What the value is compared with. */
  readonly note?: string | undefined
  readonly tone?: ReportTone
}

/** The figures of an overview. */
export function renderFigures(figures: readonly ReportFigure[]): Markup {
  const tiles = figures.map(
    ({ name, value, note, tone = 'plain' }) =>
      html`<div class="${tone}"><dt>${name}</dt><dd>${abridge(value, 60)}${note === undefined ? undefined : html`<small>${note}</small>`}</dd></div>`,
  )
  return html`<dl class="figures">${tiles}</dl>`
}

/** Names with their values; absent ones are left out. */
export function renderFacts(facts: readonly (readonly [name: string, value: string | Markup | undefined])[]): Markup {
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]))
  return html`<dl class="remarks">${rows}</dl>`
}

export type ReportColumn = { readonly heading: string; readonly kind?: 'number' | 'code' }

export type ReportTable = {
  readonly caption: string
  readonly columns: readonly (string | ReportColumn)[]
  readonly rows: readonly (readonly (string | number | Markup | undefined)[])[]
  /** How many rows there are in all; more than are listed are announced. */
  readonly total?: number
  /** Text in the place of a table without rows. */
  readonly empty?: string
}

/** A table whose first column names its rows. */
export function renderTable({ caption, columns, rows, total = rows.length, empty = 'None.' }: ReportTable): Markup {
  if (rows.length === 0) return html`<p>${empty}</p>`
  const plain = columns.map((column) => (typeof column === 'string' ? { heading: column } : column))
  const heads = plain.map(
    ({ heading, kind }: ReportColumn) => html`<th scope="col"${kind && html` class="${kind}"`}>${heading}</th>`,
  )
  const body = rows.map((row) => {
    const cells = row.map((value, at) => {
      const kind = plain[at]?.kind
      const shown = typeof value === 'string' ? abridge(value, max_cell_characters) : (value ?? '–')
      const type = kind && html` class="${kind}"`
      return at === 0 ? html`<th scope="row"${type}>${shown}</th>` : html`<td${type}>${shown}</td>`
    })
    return html`<tr>${cells}</tr>`
  })
  const omitted = total > rows.length ? `; ${rows.length} of ${total} are listed` : ''
  return renderScroll(
    caption,
    html`<table><caption>${caption}${omitted}</caption><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table>`,
  )
}

/** Content that may be wider than the page; arrow keys move it. */
export function renderScroll(name: string, content: Markup): Markup {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${name}">${content}</div>`
}

/** A state as a word with a colour. */
export function renderState(tone: ReportTone, text: string): Markup {
  return html`<span class="badge ${tone}">${abridge(text, 60)}</span>`
}
