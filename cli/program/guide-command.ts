// Commands that change guidance by a reason alone: the verdict on a proposal, and the pause of the curator.
import type { ApiObject } from '../client/client.ts'
import { groundOptions, toGround } from '../options/guide-options.ts'
import { connectService, serviceOptions } from '../options/service-options.ts'
import { printResult } from '../terminal/output.ts'
import { type CommandDefinition, command, type Params, type ParsedParams } from './command.ts'
import { required, text } from './params.ts'

type GuideCommandDefinition = Pick<CommandDefinition, 'words' | 'summary' | 'notes' | 'example'> & {
  /** The address of the operation. */
  readonly operation: string
  /** Printed once it is done. */
  readonly done: (changed: ApiObject) => string
}

export const curatorCommand = (definition: GuideCommandDefinition) => groundCommand({}, definition)

export const proposalCommand = (definition: GuideCommandDefinition) =>
  groundCommand({ id: required(text('PROPOSAL', 'ID of the proposal')) }, definition)

/** `positionals`: under the names that the operation has for them. */
function groundCommand<const T extends Params>(positionals: T, { operation, done, ...texts }: GuideCommandDefinition) {
  return command({
    ...texts,
    positionals,
    options: { ...groundOptions, ...serviceOptions },
    async run(parsed, terminal) {
      const params = parsed as ParsedParams<typeof groundOptions & typeof serviceOptions>
      const named = Object.fromEntries(
        Object.keys(positionals).map((name) => [name, (parsed as Readonly<Record<string, unknown>>)[name]]),
      )
      const api = await connectService(params, terminal)
      const changed = await api.call(operation, { ...named, ...toGround(params) })
      printResult(terminal, params.json, changed, () => done(changed))
      return 0
    },
  })
}
