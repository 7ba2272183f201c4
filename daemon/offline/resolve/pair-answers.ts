// Answers about pairs in files of labels, of decisions and of known truth.
import { OfflineCommandError } from '../offline-command-error.ts'

/** Answers of the column `match`, and those of `decision` in a file of decisions. An empty cell is not an answer yet. */
const answers = [
  [/^(1|true|yes|y|match|confirm)$/i, true],
  [/^(0|false|no|n|non[-_ ]?match|distinct|reject)$/i, false],
  [/^(|s|u|skip|unsure|defer|\?)$/i, undefined],
] as const

const answerColumns = ['match', 'decision'] as const
type AnswerColumn = (typeof answerColumns)[number]

/** The column with the answers; undefined for a file that lists matches alone. */
export function findAnswerColumn(names: readonly string[]): AnswerColumn | undefined {
  return answerColumns.find((name) => names.includes(name))
}

/** Whether a cell is an answer, be it that a person is unsure. */
export function isAnswer(cell: string): boolean {
  return cell !== '' && answers.some(([pattern]) => pattern.test(cell))
}

/** Whether the records match; undefined without an answer. Throws `OfflineCommandError` (1) for another word. */
export function parseAnswer(cell: string, location: string, column: AnswerColumn): boolean | undefined {
  const answer = answers.find(([pattern]) => pattern.test(cell))
  if (answer) return answer[1]
  const allowed = column === 'match' ? '1 or 0, or empty for no answer' : 'confirm, reject or defer'
  throw new OfflineCommandError(1, `${location}: ${column} is ${JSON.stringify(cell)}; it must be ${allowed}`)
}
