// Accepts the result of a run that is held, or resolves it with another threshold, and waits until it has ended.
import { findHeldRunFailure, formatFusionRun, waitForRun } from '../../format/fusion-run.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { command } from '../../program/command.ts'
import { commandObjects } from '../../program/command-objects.ts'
import { decimal } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

export const definition = command({
  words: 'resolve accept',
  summary: 'Accept the result of a run that is held since its estimated quality is poor',
  notes: [
    'The registry is updated. With --threshold, the run resolves with that threshold instead, and is held again',
    '(exit code 6) if that result is poor too.',
  ].join('\n'),
  positionals: { run: commandObjects.run.id },
  options: {
    threshold: decimal(
      'BITS',
      'Resolve with this threshold instead, and accept only a better result; default: that of the run',
      -1_000,
      1_000,
    ),
    ...serviceOptions,
  },
  example: 'platform resolve accept run_…',
  async run({ run: run_id, threshold, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const input = { run_id, ...(threshold === undefined ? { accept_poor: true } : { threshold }), limit: 1 }
    const { run: requested } = (await api.call('resolution.fusion.resolve', input)) as { run: { uid: string } }
    const run = await waitForRun(api, requested, terminal)
    printResult(terminal, params.json, run, () => formatFusionRun(terminal, run))
    const failure = findHeldRunFailure(run)
    if (failure) throw failure
    return 0
  },
})
