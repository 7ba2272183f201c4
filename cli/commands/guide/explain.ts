// Explains decisions on artifacts.
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { text } from '../../program/params.ts'
import { keepLayout, printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'guide explain',
  summary: 'Explain a decision, or those on an artifact or a trace',
  options: {
    artifact: text('ARTIFACT', 'Only the last decisions on this artifact'),
    trace: text('TRACE', 'Only those on artifacts that were learnt from this trace'),
    decision: text('ID', 'Only this decision, by the id of its audit record'),
    ...serviceOptions,
  },
  example: 'platform guide explain --artifact artifact_…',
  async run({ artifact, trace, decision, ...params }, terminal) {
    if ([artifact, trace, decision].filter((each) => each !== undefined).length !== 1)
      throw new CommandFailure(2, 'pass exactly one of --artifact, --trace and --decision')
    const api = await connectService(params, terminal)
    const input = { artifact_id: artifact, trace_id: trace, audit_id: decision }
    const explained = await api.call('gateway.guide.decision.explain', input)
    printResult(terminal, params.json, explained, () => keepLayout(String(explained.explanation)))
    return 0
  },
})
