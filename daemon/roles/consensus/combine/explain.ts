// Renders the explanation of a dissent as plain text for a terminal, or as Markdown.
import type { Label } from '../../../kernel/label/label.ts'
import { escapeLine } from '../../../kernel/text/escape-line.ts'
import { formatCodeSpan } from '../../../kernel/text/markup.ts'
import type { DissentBody } from './dissent.ts'
import { type NameFormatter, type NarrativeSection, narrateDissent } from './narrative.ts'

const TITLE = 'This session is in conflict'

/** Plain text, ending in a newline. `label`: the label of the dissent, which the text carries. */
export function explainAsText(body: DissentBody, label: Label): string {
  const sections = narrateDissent(body, escapeLine).map(({ title, prose, points }) =>
    [title.toUpperCase(), ...prose, ...points.map((point) => `  - ${point}`)].join('\n'),
  )
  return `${[TITLE, formatMarking(label, escapeLine), ...sections].join('\n\n')}\n`
}

/** CommonMark, ending in a newline; names stand in code spans, where nothing in them is markup. */
export function explainAsMarkdown(body: DissentBody, label: Label): string {
  const sections = narrateDissent(body, formatCodeSpan).map(formatMarkdownSection)
  return `${[`# ${TITLE}`, formatMarking(label, formatCodeSpan), ...sections].join('\n\n')}\n`
}

function formatMarking({ policy, level, categories, releasable_to, originator }: Label, name: NameFormatter): string {
  const marking = [policy, level, ...categories].map(name).join(' ')
  const audience = (releasable_to ?? [originator]).map(name).join(', ')
  return `Classification: ${marking}, releasable to ${audience || 'nobody'}.`
}

function formatMarkdownSection({ title, prose, points }: NarrativeSection): string {
  const list = points.map((point) => `- ${point}`).join('\n')
  return [`## ${title}`, ...prose, ...(list === '' ? [] : [list])].join('\n\n')
}
