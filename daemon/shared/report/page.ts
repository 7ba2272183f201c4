// The page of a report: one file of HTML that reaches nothing else, readable without scripts.
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { html, type Markup } from './markup.ts'
import { pageStyle } from './page-style.ts'

/** By which a report is recognised in its place: the beginning of `report_mark`, which earlier versions have, too. */
export const mark_beginning = '<meta name="generator" content="platform: report'
const report_mark = `${mark_beginning}">`

/** A page opens within a second or two up to here; one that would be larger leaves out whole parts, and says so. */
const max_page_characters = 24_000_000

export type ReportSection = { readonly id: string; readonly heading: string; readonly content: Markup }

export type ReportPage = {
  /** Kind of the report, above its title. */
  readonly kind: string
  readonly title: string
  /** One sentence below the title. */
  readonly lead: Markup
  /** Classification of the page, at its top and its end. */
  readonly marking?: string | undefined
  /** Verdict and figures. */
  readonly overview: { readonly heading: string; readonly content: Markup }
  readonly sections: readonly ReportSection[]
  /** Source, time and limits of the data. */
  readonly origin: Markup
  /** A script of this program, and the data that it reads. */
  readonly script?: { readonly text: string; readonly data: unknown; readonly controls: Markup }
}

/** Renders the page; the same input gives the same bytes. */
export function renderReportPage(page: ReportPage): string {
  const { kind, title, lead, marking, overview, sections, origin, script } = page
  const fitting = selectFitting(sections)
  const links = fitting.map(({ id, heading }) => html`<li><a href="#${id}">${heading}</a></li>`)
  const content = fitting.map(
    ({ id, heading, content: part }) => html`<section id="${id}"><h2>${heading}</h2>
${part}
</section>
`,
  )
  const banner = marking === undefined ? undefined : html`<p class="marking">${marking}</p>`
  const body = html`<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">${banner}<p class="kind">${kind}</p><h1>${title}</h1><p class="lead">${lead}</p></header>
<nav aria-label="Sections"><ul>${links}</ul></nav>
<main id="content">
<section id="verdict" aria-label="${overview.heading}">
${overview.content}
</section>
${content}</main>
<footer><div class="origin">${origin}</div>${banner}</footer>
`
  const policy = [
    "default-src 'none'",
    ...(script ? [`script-src ${hashSource(script.text)}`] : []),
    `style-src ${hashSource(pageStyle)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const scripts = script
    ? `${script.controls}<script type="application/json" id="page-data">${embedJson(script.data)}</script>\n<script>${script.text}</script>\n`
    : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${report_mark}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${html`${title}`}</title>
<style>${pageStyle}</style>
</head>
${body}${scripts}</body>
</html>
`
}

/** A section that does not fit is replaced by a sentence. */
function selectFitting(sections: readonly ReportSection[]): ReportSection[] {
  let characters = 0
  return sections.map((section) => {
    const size = section.content.toString().length
    if (characters + size > max_page_characters)
      return { ...section, content: html`<p>This section is left out: the page would be too large to open.</p>` }
    characters += size
    return section
  })
}

function hashSource(text: string): string {
  return `'sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}'`
}

/** JSON within a script element: no character of it ends the element or a line of a script, or is invisible. */
function embedJson(value: unknown): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029\p{Cf}]/gu, (mark) =>
    mark.split('').map(escapeUnit).join(''),
  )
}
