// The frame of a command that changes one signal, insight or silence: its id, what the change says, and the thing as it is then.
import type { Answered } from './client/client.ts'
import { command, type Definition, type Given, type Params } from './command.ts'
import { show } from './output.ts'
import { needed, text } from './params.ts'
import { service } from './service.ts'
import { changeOptions, extrasOf } from './signal-options.ts'
import { insightText, signalText } from './signal-text.ts'
import { silenceText } from './silence-text.ts'
import type { Terminal } from './terminal.ts'

const takes = {
  signal: { id: needed(text('SIGNAL', 'the signal’s id')) },
  insight: { id: needed(text('INSIGHT', 'the insight’s id')) },
  silence: { id: needed(text('SILENCE', 'the silence’s id')) },
}
const texts = { signal: signalText, insight: insightText, silence: silenceText }

type Change<O extends Params> = Pick<Definition, 'words' | 'summary' | 'notes' | 'example'> & {
  readonly of: keyof typeof takes
  /** The operation that it asks. */
  readonly asks: string
  /** Besides those that every change has. */
  readonly options: O
  /** What is asked for, besides `uid`. */
  readonly input: (given: Given<O>) => Answered
  /** How the changed thing is told, where not as it is shown. */
  readonly told?: (terminal: Terminal, changed: Answered) => string
}

export function changeCommand<const O extends Params>({
  of,
  asks,
  options,
  input,
  told = texts[of],
  ...words
}: Change<O>) {
  return command({
    ...words,
    takes: takes[of],
    options: { ...options, ...changeOptions },
    async run(all, terminal) {
      const given = all as Given<O> & Given<typeof changeOptions> & { readonly id: string }
      const api = await service(given, terminal)
      const changed = await api.call(asks, { uid: given.id, ...input(given) }, extrasOf(given))
      show(terminal, given.json, changed, () => told(terminal, changed))
      return 0
    },
  })
}
