// Commands that take nothing but the name of a pipeline, and act on it.
import type { ApiObject } from '../client/client.ts'
import { requirePipeline } from '../client/find-pipeline.ts'
import { connectService, serviceOptions } from '../options/service-options.ts'
import { printResult } from '../terminal/output.ts'
import { type CommandDefinition, command } from './command.ts'
import { required, text } from './params.ts'

type PipelineCommandDefinition = Pick<CommandDefinition, 'words' | 'summary' | 'notes' | 'example'> & {
  /** The address of the operation, which takes the uid. */
  readonly operation: string
  /** What it takes besides. */
  readonly input?: ApiObject
  /** Printed once it is done, after the name. */
  readonly done: string
}

export function pipelineCommand({ operation, input, done, ...texts }: PipelineCommandDefinition) {
  return command({
    ...texts,
    positionals: { dag: required(text('DAG', 'Name of the DAG of the pipeline')) },
    options: serviceOptions,
    async run({ dag, ...params }, terminal) {
      const api = await connectService(params, terminal)
      const { uid } = await requirePipeline(api, dag)
      const changed = await api.call(operation, { uid, ...input })
      printResult(terminal, params.json, changed, () => `${dag} ${done}`)
      return 0
    },
  })
}
