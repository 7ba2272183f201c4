// A session of labels: chooses questions by the answers so far, shows them as the data has them, and keeps each answer.
import { type ChosenPair, createPairChooser } from '../../../roles/resolution/engine/labels/choose-pairs.ts'
import type { LabelledRecords } from '../../../roles/resolution/engine/labels/known-labels.ts'
import type { EngineProgressListener } from '../../../roles/resolution/engine/progress.ts'
import { buildRecords } from '../../../roles/resolution/engine/records/records.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { createOriginalReader } from '../folder/original-values.ts'
import { readLabels } from '../lens/lens-labels.ts'
import { convertLensFaults, type RecordReading, readLensSources } from '../lens-records.ts'
import { requireWritable } from '../new-files.ts'
import { nameSource, refuseDuplicateSources } from '../reading/source-names.ts'
import { remarkUnreadColumns } from '../reading/unread-columns.ts'
import { LabelJournal, requireLabelJournal } from './label-journal.ts'
import { createQuestionReader, type PairQuestion } from './pair-question.ts'

export type LabelSessionOptions = {
  readonly lens: Lens
  readonly files: readonly string[]
  readonly reading: RecordReading
  readonly seed: number
  /** File of labels: continued if it is there. */
  readonly labels: string
  /** Answers wanted, with those of the file. */
  readonly wanted: number
}

export type PairAnswer = 'match' | 'no_match' | 'unsure'

/** Cells of the answers in a file of labels; an empty one takes an answer back. */
const answerCells = { match: '1', no_match: '0', unsure: 'unsure', none: '' } as const

/** Answers after which questions are chosen anew. */
const refit_answers = 5

type KeptAnswer = { readonly pair: ChosenPair; readonly answer: PairAnswer }

/** Reads the data and resolves it once. Throws `OfflineCommandError`: 1 for unusable data and labels, 3 for another file of labels. */
export async function openLabelSession(options: LabelSessionOptions, onProgress: EngineProgressListener) {
  const { lens, files, reading, seed, labels, wanted } = options
  // Before reading, so that minutes of work do not end at a file that cannot be written.
  requireWritable(labels)
  requireLabelJournal(labels)
  refuseDuplicateSources(files.map((file) => nameSource(file, reading.sources)))
  const sources = await readLensSources(lens, files, onProgress, reading)
  remarkUnreadColumns(
    sources.map(({ name }) => name),
    sources.map(({ reading }) => reading),
    reading.onRemark,
  )
  const records = convertLensFaults(() => buildRecords(lens, sources))
  const journal = new LabelJournal(labels)
  try {
    const earlier = await readLabels(labels, records, { mayBeEmpty: true })
    const chooser = convertLensFaults(() => createPairChooser(lens, records, seed, onProgress))
    const original = createOriginalReader(lens, records, sources)
    const questionOf = createQuestionReader(records, chooser.resolution, original)
    const known = earlier.labels.kind === 'pairs' ? earlier.labels.pairs : []
    return new LabelSession(journal, chooser.choose, questionOf, { known, unsure: earlier.unsure, wanted })
  } catch (error) {
    journal.close()
    throw error
  }
}

/** Answers of earlier sessions, and the number of answers wanted with them. */
type SessionStart = {
  readonly known: readonly LabelledRecords[]
  readonly unsure: readonly Pick<LabelledRecords, 'a' | 'b'>[]
  readonly wanted: number
}

type ChoosePairs = ReturnType<typeof createPairChooser>['choose']

class LabelSession {
  readonly #journal: LabelJournal
  readonly #choose: ChoosePairs
  readonly #questionOf: (pair: ChosenPair) => PairQuestion
  readonly #start: SessionStart
  #kept: KeptAnswer[] = []
  #queue: ChosenPair[] = []

  constructor(
    journal: LabelJournal,
    choose: ChoosePairs,
    questionOf: (pair: ChosenPair) => PairQuestion,
    start: SessionStart,
  ) {
    this.#journal = journal
    this.#choose = choose
    this.#questionOf = questionOf
    this.#start = start
    this.#fill()
  }

  current(): PairQuestion | undefined {
    const [pair] = this.#queue
    return pair && this.#questionOf(pair)
  }

  answer(answer: PairAnswer): void {
    const pair = this.#queue[0]
    if (!pair) return
    this.#write(pair, answer)
    this.#queue.shift()
    this.#kept.push({ pair, answer })
    if (this.#queue.length === 0) this.#fill()
  }

  undo(): boolean {
    const last = this.#kept.at(-1)
    if (!last) return false
    this.#write(last.pair, 'none')
    this.#kept.pop()
    this.#queue.unshift(last.pair)
    return true
  }

  progress() {
    const all = [...this.#listLabels()]
    const matches = all.filter(({ isMatch }) => isMatch).length
    const unsure = this.#start.unsure.length + this.#kept.filter(({ answer }) => answer === 'unsure').length
    return { matches, non_matches: all.length - matches, unsure, wanted: this.#start.wanted }
  }

  close(): void {
    this.#journal.close()
  }

  #write(pair: ChosenPair, answer: keyof typeof answerCells): void {
    const { left, right } = this.#questionOf(pair)
    this.#journal.append([left.source, left.id, right.source, right.id, answerCells[answer]])
  }

  #fill(): void {
    const labels = this.#listLabels()
    const shown = [...this.#start.known, ...this.#start.unsure, ...this.#kept.map(({ pair }) => pair)]
    const count = Math.min(refit_answers, this.#start.wanted - shown.length)
    this.#queue = count > 0 ? this.#choose(labels, shown, count) : []
  }

  #listLabels(): LabelledRecords[] {
    const own = this.#kept.flatMap(({ pair: { a, b }, answer }) =>
      answer === 'unsure' ? [] : [{ a, b, isMatch: answer === 'match' }],
    )
    return [...this.#start.known, ...own]
  }
}
