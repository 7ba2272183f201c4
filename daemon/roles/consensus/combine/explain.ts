// Renders the explanation of a dissent as plain text for a terminal, or as Markdown.
import type { Label } from '../../../kernel/label/label.ts'
import type { DissentBody } from './dissent.ts'
import { type NameFormatter, type NarrativeSection, narrateDissent } from './narrative.ts'
import { replaceUnprintable } from './wording.ts'

const TITLE = 'This session is in conflict'

/** Plain text, ending in a newline. `label`: the label of the dissent, which the text carries. */
export function explainAsText(body: DissentBody, label: Label): string {
  const sections = narrateDissent(body, replaceUnprintable).map(({ title, prose, points }) =>
    [title.toUpperCase(), ...prose, ...points.map((point) => `  - ${point}`)].join('\n'),
  )
  return `${[TITLE, formatMarking(label, replaceUnprintable), ...sections].join('\n\n')}\n`
}

/** CommonMark, ending in a newline; names stand in code spans, where nothing in them is markup. */
export function explainAsMarkdown(body: DissentBody, label: Label): string {
  const sections = narrateDissent(body, codeSpan).map(formatMarkdownSection)
  return `${[`# ${TITLE}`, formatMarking(label, codeSpan), ...sections].join('\n\n')}\n`
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

/** The fence is longer than any run of backticks inside, and padded, as CommonMark requires. */
const codeSpan: NameFormatter = (contributor_id) => {
  const printable = replaceUnprintable(contributor_id)
  const runs = printable.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1)
  const padding = runs.length > 0 ? ' ' : ''
  return `${fence}${padding}${printable}${padding}${fence}`
}
