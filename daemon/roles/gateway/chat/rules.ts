// Pure decisions of the chat: what a conversation keeps, its label, and names of tools as models take them.
import { sha256 } from '../../../kernel/encoding/canonical-json.ts'
import { joinLabels, type Label, type LabelPolicy, type Viewer } from '../../../kernel/label/label.ts'
import type { ChatExchange } from './model.ts'

/** Of one conversation: older exchanges are dropped. */
export const max_exchanges = 50
export const max_history_characters = 131_072

/** The newest exchanges within both bounds; the last one always stays. */
export function keepExchanges(exchanges: readonly ChatExchange[]): ChatExchange[] {
  let characters = 0
  let kept = 0
  for (const { message, response } of exchanges.toReversed()) {
    characters += message.length + response.length
    if (kept > 0 && (characters > max_history_characters || kept === max_exchanges)) break
    kept += 1
  }
  return exchanges.slice(exchanges.length - kept)
}

/** The lower one of two levels of a policy; undefined for no limit. */
export function lowerLevel(
  levels: readonly string[],
  one: string | undefined,
  other: string | undefined,
): string | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return levels.indexOf(one) <= levels.indexOf(other) ? one : other
}

/** Of one caller, by ceiling: its key is then worked out once as well. */
const labelsByCaller = new WeakMap<Viewer, Map<string | undefined, Label>>()

/** The label of what tools can show the caller: its whole clearance, up to the ceiling of a guardrail. */
export function labelOfCaller(caller: Viewer, policy: LabelPolicy, ceiling: string | undefined): Label {
  const known = labelsByCaller.get(caller) ?? new Map<string | undefined, Label>()
  labelsByCaller.set(caller, known)
  const label = known.get(ceiling) ?? buildLabel(caller, policy, ceiling)
  known.set(ceiling, label)
  return label
}

function buildLabel(
  { clearance, tenant_id }: Viewer,
  { policy, levels }: LabelPolicy,
  ceiling: string | undefined,
): Label {
  const [lowest = ''] = levels
  const level = lowerLevel(levels, clearance?.level ?? lowest, ceiling) ?? lowest
  const categories = [...(clearance?.categories ?? [])].sort()
  return { categories, level, originator: tenant_id, policy, releasable_to: [tenant_id] }
}

/** Whether a conversation with this label has data that a guardrail keeps from the model now. */
export function isAboveCeiling({ level }: Label, levels: readonly string[], ceiling: string | undefined): boolean {
  if (ceiling === undefined) return false
  // A level that the policy has no longer may be any.
  return !levels.includes(level) || levels.indexOf(level) > levels.indexOf(ceiling)
}

/** A conversation keeps the label of all that it has shown. */
export function raiseLabel(before: Label, now: Label, policy: LabelPolicy): Label {
  return joinLabels(before, now, policy) ?? now
}

const max_name_characters = 64

/**
 * Names of tools as models take them: letters, digits, `_` and `-`, at most 64. Others are replaced by a name with a digest,
 * which is the same each time.
 */
export function toModelName(tool: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(tool)) return tool
  const digest = sha256(tool).slice(0, 8)
  return `${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, max_name_characters - digest.length - 1)}_${digest}`
}

/** At most so many bytes of a text, without half a character, with a note where it was cut. */
export function cutText(text: string, max_bytes: number): string {
  if (text.length <= max_bytes / 3 || Buffer.byteLength(text) <= max_bytes) return text.toWellFormed()
  const note = `\n[cut off: the whole has ${Buffer.byteLength(text)} bytes]`
  const head = Buffer.from(text.slice(0, max_bytes)).subarray(0, Math.max(0, max_bytes - note.length))
  return head.toString('utf8').replace(/\uFFFD+$/, '') + note
}
