// Interface between the label screen and a session: one question at a time, and a place for each answer.

export type LabelAnswer = 'match' | 'no_match' | 'unsure'

export type LabelRecord = { readonly source: string; readonly id: string }

/** A field of both records, as the data has it; undefined where it is missing. `level`: how alike they are, in words. */
export type LabelField = {
  readonly name: string
  readonly left: string | undefined
  readonly right: string | undefined
  readonly level: string
}

export type LabelQuestion = {
  readonly left: LabelRecord
  readonly right: LabelRecord
  /** Score of the pair before labels, such as `3.2 bits`. */
  readonly score: string
  readonly fields: readonly LabelField[]
}

export type LabelProgress = {
  readonly matches: number
  readonly non_matches: number
  readonly unsure: number
  /** Answers that the person intends to give, earlier ones included. */
  readonly wanted: number
}

/** Asks questions and keeps answers. Each answer is durable when the call returns. */
export type LabelDialogue = {
  /** The question to answer; undefined when none is left. */
  current(): LabelQuestion | undefined
  /** Throws if the answer could not be written. */
  answer(answer: LabelAnswer): void
  /** Takes the last answer of this session back and asks again. False if there is none. */
  undo(): boolean
  progress(): LabelProgress
}
