// Commands that take nothing but the name of a pipeline, or the id of an effect, and act on it.
import type { ApiObject, ServiceClient } from '../client/client.ts'
import { requirePipeline } from '../client/find-pipeline.ts'
import { connectService, serviceOptions } from '../options/service-options.ts'
import { printResult } from '../terminal/output.ts'
import { type CommandDefinition, command } from './command.ts'
import { commandObjects } from './command-objects.ts'
import { required, text } from './params.ts'

type ActionCommandDefinition = Pick<CommandDefinition, 'words' | 'summary' | 'notes' | 'example'> & {
  /** The address of the operation, which takes the uid. */
  readonly operation: string
  /** What it takes besides. */
  readonly input?: ApiObject
  /** Printed once it is done, after the name. */
  readonly done: string
}

export function pipelineCommand(definition: ActionCommandDefinition) {
  const { operation: _operation, input: _input, done: _done, ...texts } = definition
  return command({
    ...texts,
    positionals: { dag: required(text('DAG', 'Name of the DAG of the pipeline')) },
    options: serviceOptions,
    async run({ dag, ...params }, terminal) {
      const api = await connectService(params, terminal)
      const { uid } = await requirePipeline(api, dag)
      const changed = await act(api, definition, uid)
      printResult(terminal, params.json, changed, () => `${dag} ${definition.done}`)
      return 0
    },
  })
}

export function effectCommand(definition: ActionCommandDefinition) {
  const { operation: _operation, input: _input, done: _done, ...texts } = definition
  return command({
    ...texts,
    positionals: { id: commandObjects.effect.id },
    options: serviceOptions,
    async run({ id, ...params }, terminal) {
      const changed = await act(await connectService(params, terminal), definition, id)
      printResult(terminal, params.json, changed, () => `${id} ${definition.done}`)
      return 0
    },
  })
}

async function act(api: ServiceClient, { operation, input }: ActionCommandDefinition, uid: string): Promise<ApiObject> {
  return await api.call(operation, { uid, ...input })
}
