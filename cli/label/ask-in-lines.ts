// Asks for labels line by line, on a terminal that cannot show a screen.
import { escapeLine } from '../../daemon/kernel/text/escape-line.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { LabelDialogue, LabelProgress, LabelQuestion } from './label-dialogue.ts'
import { labelHelp, readAction } from './label-keys.ts'

const keys = 'y match, n no match, s unsure, z undo, q quit, ? help: '

/** Ends when the person quits or the input ends, and when no question is left. Every answer is kept before the next question. */
export async function askInLines(dialogue: LabelDialogue, terminal: Pick<Terminal, 'note' | 'prompt'>): Promise<void> {
  const { note, prompt } = terminal
  for (let question = dialogue.current(); question; question = dialogue.current()) {
    for (const line of describeQuestion(question, dialogue.progress())) note(line)
    const reply = await prompt(keys)
    if (reply === undefined) return
    const action = readAction(reply === '' ? '?' : reply)
    if (action === 'quit') return
    if (action === 'undo') note(dialogue.undo() ? 'took the last answer back' : 'no answer to take back')
    else if (action === undefined || action === 'help') for (const line of labelHelp) note(line)
    else dialogue.answer(action)
  }
  note('No further pair to ask about.')
}

function describeQuestion({ left, right, score, fields }: LabelQuestion, progress: LabelProgress): string[] {
  const { matches, non_matches, unsure, wanted } = progress
  const place = left.source === right.source ? ['', ''] : [`${left.source} `, `${right.source} `]
  return [
    '',
    `${matches + non_matches + unsure} of ${wanted}: ${matches} y, ${non_matches} n, ${unsure} unsure; score ${score}`,
    escapeLine(`record: ${place[0]}${left.id} | ${place[1]}${right.id}`),
    ...fields.map(({ name, left: one, right: other, level }) => {
      const isMissing = one === undefined || other === undefined
      return escapeLine(`${name}${isMissing ? '' : ` (${level})`}: ${one ?? ''} | ${other ?? ''}`)
    }),
  ]
}
