// Shows an artifact of guidance, or an earlier version of it, with its history.
import { formatArtifact } from '../../format/guide.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { commandObjects } from '../../program/command-objects.ts'
import { integer } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide show',
  summary: 'Show an artifact with its versions',
  positionals: { id: commandObjects.artifact.id },
  options: {
    asOf: integer('VERSION', 'Version to show (default: the newest)', 1),
    before: integer('VERSION', 'List versions before this one (default: the newest 100)', 1),
    ...serviceOptions,
  },
  example: 'platform guide show artifact_…',
  async run({ id, asOf, before, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const artifact = await api.call('gateway.guide.artifact.get', { id, as_of_version: asOf, before_version: before })
    const usage = await api.call('gateway.guide.artifact.stats', { artifact_id: id })
    printResult(terminal, params.json, { ...artifact, usage }, () => formatArtifact(terminal, { ...artifact, usage }))
    return 0
  },
})
