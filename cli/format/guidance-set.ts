// Formats a set of artifacts of another site, and its artifacts beside what is active here: untrusted text.
import type { ApiObject } from '../client/client.ts'
import { colourText, formatFields, line_break, paragraph_break } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function formatGuidanceSet(terminal: Terminal, set: ApiObject): string {
  const { label, request, approval, rejected, site: _, ...fields } = set
  return formatFields(terminal, {
    ...fields,
    level: (label as ApiObject | undefined)?.level as string | undefined,
    requested_by: describeDecision(request as ApiObject | undefined),
    approved_by: describeDecision(approval as ApiObject | undefined),
    rejected_by: describeRejection(rejected as ApiObject | undefined),
  })
}

function describeDecision(decision: ApiObject | undefined): string | undefined {
  if (!decision) return undefined
  const { subject, reason, artifacts } = decision
  return `${subject}, for the artifacts ${(artifacts as number[]).join(', ')}: ${reason}`
}

function describeRejection(rejected: ApiObject | undefined): string | undefined {
  return rejected && `${rejected.actor}: ${rejected.reason}`
}

export function formatSetArtifacts(terminal: Terminal, artifacts: readonly ApiObject[]): string {
  return artifacts.map((artifact) => formatSetArtifact(terminal, artifact)).join(paragraph_break)
}

function formatSetArtifact(terminal: Terminal, artifact: ApiObject): string {
  const { number, type, state, detail, with: others, findings, missing, content, rationale, outcome } = artifact
  const marks = (findings as ApiObject[]).map(({ kind, excerpt }) =>
    colourText(terminal, 'red', `  mark of ${String(kind).replaceAll('_', ' ')}: ${excerpt}`),
  )
  const compared = (others as string[]).length > 0 ? ` (${(others as string[]).join(', ')})` : ''
  const absent = missing as string[]
  return [
    `${colourText(terminal, 'bold', String(number))}  ${type}  ${state}: ${detail}${compared}`,
    ...marks,
    ...(absent.length > 0 ? [colourText(terminal, 'yellow', `  not at this site: ${absent.join(', ')}`)] : []),
    ...Object.entries(content as ApiObject).map(([name, value]) => `  ${name}: ${show(value)}`),
    `  rationale: ${rationale}`,
    ...(outcome === undefined
      ? []
      : [`  outcome: ${outcome}${artifact.outcome_detail ? `, ${artifact.outcome_detail}` : ''}`]),
  ].join(line_break)
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
