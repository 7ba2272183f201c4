// A command that changes one signal, insight or silence, and prints the changed document.
import type { ApiObject } from '../client/client.ts'
import { formatInsight, formatSignal } from '../format/signal.ts'
import { formatSilence } from '../format/silence.ts'
import { connectService } from '../options/service-options.ts'
import { changeOptions, toRequestOptions } from '../options/signal-options.ts'
import { printResult } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type CommandDefinition, command, type Params, type ParsedParams } from './command.ts'
import { required, text } from './params.ts'

const idParams = {
  signal: { id: required(text('SIGNAL', 'Id of the signal')) },
  insight: { id: required(text('INSIGHT', 'Id of the insight')) },
  silence: { id: required(text('SILENCE', 'Id of the silence')) },
}
const formatters = { signal: formatSignal, insight: formatInsight, silence: formatSilence }

type ChangeCommandDefinition<O extends Params> = Pick<CommandDefinition, 'words' | 'summary' | 'notes' | 'example'> & {
  readonly of: keyof typeof idParams
  /** Address of the operation to call. */
  readonly operation: string
  /** Options besides those of every change. */
  readonly options: O
  /** Input of the operation, besides `uid`. */
  readonly input: (given: ParsedParams<O>) => ApiObject
  /** Formats the changed document, if not in the usual way. */
  readonly format?: (terminal: Terminal, changed: ApiObject) => string
}

export function changeCommand<const O extends Params>({
  of,
  operation,
  options,
  input,
  format = formatters[of],
  ...words
}: ChangeCommandDefinition<O>) {
  return command({
    ...words,
    positionals: idParams[of],
    options: { ...options, ...changeOptions },
    async run(all, terminal) {
      const given = all as ParsedParams<O> & ParsedParams<typeof changeOptions> & { readonly id: string }
      const api = await connectService(given, terminal)
      const changed = await api.call(operation, { uid: given.id, ...input(given) }, toRequestOptions(given))
      printResult(terminal, given.json, changed, () => format(terminal, changed))
      return 0
    },
  })
}
