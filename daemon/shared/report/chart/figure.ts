// The frame of every chart: a picture with a name, its legend, its caption, and its figures as a table.
import { html, type Markup } from '../markup.ts'
import { type ReportTable, renderTable } from '../parts.ts'

export type ChartTone = 'c1' | 'c2' | 'c3' | 'c4'

export type ChartFigure = {
  /** Names the picture for people who do not see it. */
  readonly title: string
  /** Says how to read it. */
  readonly description: string
  readonly width: number
  readonly height: number
  readonly content: readonly Markup[]
  readonly legend?: readonly { readonly name: string; readonly tone: ChartTone }[]
  /** The figures of the picture. */
  readonly table?: ReportTable
}

export function renderFigure(figure: ChartFigure): Markup {
  const { title, description, width, height, content, legend = [], table } = figure
  const names = legend.map(({ name, tone }) => html`<li class="${tone}">${name}</li>`)
  const list = names.length > 1 ? html`<ul class="legend">${names}</ul>` : undefined
  const figures = table && html`<details><summary>Figures of this chart</summary>${renderTable(table)}</details>`
  return html`<figure class="chart"><p class="title">${title}</p>${list}<div class="picture"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${`${title}. ${description}`}">${content}</svg></div><figcaption>${description}</figcaption>${figures}</figure>`
}

export type TextAnchor = 'start' | 'middle' | 'end'

/** A label; `kind`: its class in the style of the page. */
export function drawText(x: number, y: number, text: string, anchor: TextAnchor = 'start', kind?: string): Markup {
  const type = kind === undefined ? undefined : html` class="${kind}"`
  return html`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${type}>${text}</text>`
}

export function drawLine(kind: string, x1: number, y1: number, x2: number, y2: number): Markup {
  return html`<path class="${kind}" d="M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}"/>`
}

/** A rectangle; `title`: what a pointer over it shows. */
export function drawBar(tone: string, x: number, y: number, width: number, height: number, title?: string): Markup {
  const shape = html`<rect class="${tone}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(0, width).toFixed(1)}" height="${Math.max(0, height).toFixed(1)}" rx="1.5"`
  return title === undefined ? html`${shape}/>` : html`${shape}><title>${title}</title></rect>`
}

/** Letters of East Asian scripts and pictures are twice as wide as those of Latin. */
const wideLetters =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f000}-\u{3fffd}]/u

/** A label of limited width, in letters of Latin; marks that stack above a letter are limited, too. */
export function fitLabel(text: string, letters: number): string {
  let width = 0
  let marks = 0
  let fitted = ''
  for (const letter of text) {
    const isMark = /\p{M}/u.test(letter)
    marks = isMark ? marks + 1 : 0
    if (marks > 2) continue
    width += isMark ? 0 : wideLetters.test(letter) ? 2 : 1
    if (width > letters) return `${fitted.slice(0, -1)}…`
    fitted += letter
  }
  return fitted
}
