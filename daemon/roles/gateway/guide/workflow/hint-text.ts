// Hints as text beside the result of a tool call: advice for the model and the person, which changes nothing of the call.
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { ScheduleParser } from '../../../../kernel/schedule/schedule.ts'
import type { WorkflowHint } from './hint.ts'
import { listHints } from './hints.ts'
import { findGeneratingTool, type ToolName } from './intents.ts'
import { findInterval } from './schedule-interval.ts'

/** Hints of one text; the operation has the rest. */
const max_shown = 10

/** The hints on the workflow that a call makes or changes; none for other tools, and for arguments that do not fit. */
export function listCallHints(name: ToolName, input: unknown, parse: ScheduleParser): WorkflowHint[] {
  const generating = findGeneratingTool(name)
  const draft = generating?.read(input)
  if (!draft?.dag) return []
  const found = draft.schedule === undefined ? undefined : findInterval(parse, draft.schedule)
  return listHints(draft.dag, { interval_s: isRefusal(found) ? undefined : found })
}

/** Empty for no hints. */
export function describeHints(hints: readonly WorkflowHint[]): string {
  if (hints.length === 0) return ''
  const lines = hints.slice(0, max_shown).map(describeHint)
  if (hints.length > max_shown) lines.push(`- and ${hints.length - max_shown} more`)
  return ['Hints on this workflow (advice: the call was made as requested):', ...lines].join('\n')
}

function describeHint({ category, node, edge, rationale }: WorkflowHint): string {
  return `- ${category}, ${edge ? `${edge.from} > ${edge.to}` : node}: ${rationale}`
}
