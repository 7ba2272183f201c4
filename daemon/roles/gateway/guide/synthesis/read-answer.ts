// Reads the answer of a model, which may be anything: JSON of the expected form, alone or in a fence or between words.
import * as z from 'zod'
import { parseJson } from '../../../../kernel/encoding/parse-json.ts'
import { readConfidence } from '../artifact/propose-artifact.ts'
import { type AnswerEntry, type AnswerList, answerEntries, answerLists, max_changes } from './model-answer.ts'

type AnswerEntries = { readonly [L in AnswerList]: readonly AnswerEntry<L>[] }

export type SynthesisAnswer = AnswerEntries & {
  readonly confidence: number
  readonly reply: string
  /** Entries that are not of their schema. */
  readonly left_out: number
}

const max_reply_characters = 4_000
const fencePattern = /^```[a-z]*\s*\n([\s\S]*?)\n?```\s*$/i

const list = z.array(z.unknown()).max(max_changes).nullish()
const answerFrame = z.object({
  confidence: z.unknown().optional(),
  reply: z.unknown().optional(),
  ...(Object.fromEntries(answerLists.map((each) => [each, list])) as Record<AnswerList, typeof list>),
})

/** Undefined for an answer that cannot be used: not a JSON object, or with more changes than are allowed. */
export function readAnswer(text: string): SynthesisAnswer | undefined {
  const frame = answerFrame.safeParse(findJson(text))
  if (!frame.success) return undefined
  const { confidence, reply, ...lists } = frame.data
  let left_out = 0
  const read = <L extends AnswerList>(of: L): AnswerEntry<L>[] =>
    (lists[of] ?? []).flatMap((entry) => {
      const parsed = answerEntries[of].safeParse(entry)
      if (!parsed.success) left_out += 1
      return parsed.success ? [parsed.data as AnswerEntry<L>] : []
    })
  const entries: AnswerEntries = {
    ...{ proposals: read('proposals'), edits: read('edits'), promotions: read('promotions') },
    ...{ demotions: read('demotions'), reviews: read('reviews') },
    ...{ drift_flags: read('drift_flags'), compactions: read('compactions') },
  }
  const shown = typeof reply === 'string' ? reply.slice(0, max_reply_characters).toWellFormed() : ''
  return { ...entries, confidence: readConfidence(confidence), reply: shown, left_out }
}

/** The whole text, the inside of a fence, or what stands between the first and the last brace. */
export function findJson(text: string): unknown {
  const trimmed = text.trim()
  const whole = parseJson(trimmed)
  if (whole !== undefined) return whole
  const fenced = fencePattern.exec(trimmed)?.[1]
  const inside = fenced === undefined ? undefined : parseJson(fenced.trim())
  if (inside !== undefined) return inside
  const [from, to] = [trimmed.indexOf('{'), trimmed.lastIndexOf('}')]
  return from === -1 || to <= from ? undefined : parseJson(trimmed.slice(from, to + 1))
}
