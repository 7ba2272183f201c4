// Renders the story of a dissent as plain text for a terminal, or as Markdown.
import type { Label } from '../../../kernel/label.ts'
import type { DissentBody } from './dissent.ts'
import { type Name, narrative, type Section } from './narrative.ts'
import { printable } from './wording.ts'

const TITLE = 'This session is in conflict'

/** Plain text, ending in a newline. `label`: that of the dissent, which the text carries wherever it is taken. */
export function explainText(body: DissentBody, label: Label): string {
  const sections = narrative(body, printable).map(({ title, prose, points }) =>
    [title.toUpperCase(), ...prose, ...points.map((point) => `  - ${point}`)].join('\n'),
  )
  return `${[TITLE, marking(label, printable), ...sections].join('\n\n')}\n`
}

/** CommonMark, ending in a newline; names stand in code spans, where nothing in them is markup. */
export function explainMarkdown(body: DissentBody, label: Label): string {
  const sections = narrative(body, codeSpan).map(markdownSection)
  return `${[`# ${TITLE}`, marking(label, codeSpan), ...sections].join('\n\n')}\n`
}

function marking({ policy, level, categories, releasable_to, originator }: Label, name: Name): string {
  const held = [policy, level, ...categories].map(name).join(' ')
  const audience = (releasable_to ?? [originator]).map(name).join(', ')
  return `Classification: ${held}, releasable to ${audience || 'nobody'}.`
}

function markdownSection({ title, prose, points }: Section): string {
  const list = points.map((point) => `- ${point}`).join('\n')
  return [`## ${title}`, ...prose, ...(list === '' ? [] : [list])].join('\n\n')
}

/** The fence is longer than any run of backticks inside, and padded, as CommonMark wants it. */
const codeSpan: Name = (contributor_id) => {
  const shown = printable(contributor_id)
  const runs = shown.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1)
  const padding = runs.length > 0 ? ' ' : ''
  return `${fence}${padding}${shown}${padding}${fence}`
}
