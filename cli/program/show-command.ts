// Commands that take nothing but the id of one object and print that object: show and cancel.
import { connectService, serviceOptions } from '../options/service-options.ts'
import { printResult } from '../terminal/output.ts'
import { type CommandDefinition, command } from './command.ts'
import { type CommandObjectKind, commandObjects } from './command-objects.ts'

type ObjectCommandDefinition = Pick<CommandDefinition, 'words' | 'summary' | 'notes' | 'example'> & {
  readonly object: CommandObjectKind
  /** The address of the operation; it takes the id and returns the object. */
  readonly operation: string
}

/** Declares a command that reads one object and prints it. */
export const showCommand = objectCommand

/** Declares a command that cancels one object and prints it as it is then. */
export const cancelCommand = objectCommand

function objectCommand({ object, operation, ...texts }: ObjectCommandDefinition) {
  const { id, id_field, format } = commandObjects[object]
  return command({
    ...texts,
    positionals: { id },
    options: serviceOptions,
    async run(params, terminal) {
      const api = await connectService(params, terminal)
      const object = await api.call(operation, { [id_field]: params.id })
      printResult(terminal, params.json, object, () => format(terminal, object))
      return 0
    },
  })
}
