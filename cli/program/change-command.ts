// Commands that change one object, such as a signal or an artifact: they take its id and the change, and print the changed object.
import type { ApiObject } from '../client/client.ts'
import { connectService } from '../options/service-options.ts'
import { changeOptions, toRequestOptions } from '../options/signal-options.ts'
import { printResult } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type CommandDefinition, command, type Params, type ParsedParams } from './command.ts'
import { commandObjects } from './command-objects.ts'

type ChangeCommandDefinition<O extends Params> = Pick<CommandDefinition, 'words' | 'summary' | 'notes' | 'example'> & {
  readonly object: 'signal' | 'insight' | 'silence' | 'artifact'
  /** The address of the operation. */
  readonly operation: string
  /** Options besides those of every change. */
  readonly options: O
  /** The input of the operation, without the id. */
  readonly input: (params: ParsedParams<O>) => ApiObject
  /** Formats the changed object (default: as the show command). */
  readonly format?: (terminal: Terminal, updated: ApiObject) => string
}

/** Declares a command that changes one object; `--if-version` and the service options are part of each. */
export function changeCommand<const O extends Params>({
  object,
  operation,
  options,
  input,
  format = commandObjects[object].format,
  ...texts
}: ChangeCommandDefinition<O>) {
  const { id, id_field } = commandObjects[object]
  return command({
    ...texts,
    positionals: { id },
    options: { ...options, ...changeOptions },
    async run(parsed, terminal) {
      const params = parsed as ParsedParams<O> & ParsedParams<typeof changeOptions> & { readonly id: string }
      const api = await connectService(params, terminal)
      const updated = await api.call(operation, { [id_field]: params.id, ...input(params) }, toRequestOptions(params))
      printResult(terminal, params.json, updated, () => format(terminal, updated))
      return 0
    },
  })
}
