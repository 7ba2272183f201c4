// Accepts the result of a run that is held, or resolves it with another threshold.
import type { ApiObject, ApiRequestOptions, ServiceClient } from '../../client/client.ts'
import { findHeldRunFailure, formatFusionRun, waitForRun } from '../../format/fusion-run.ts'
import { connectService, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { commandObjects } from '../../program/command-objects.ts'
import { decimal, flag } from '../../program/params.ts'
import { printResult } from '../../terminal/output.ts'

type AcceptedRun = ApiObject & { readonly held?: string; readonly accept_poor?: boolean; readonly state: string }

async function resolveRun(
  api: ServiceClient,
  run_id: string,
  input: Readonly<Record<string, unknown>>,
  extras?: ApiRequestOptions,
): Promise<ApiObject> {
  const { run } = await api.call('resolution.fusion.resolve', { run_id, limit: 1, ...input }, extras)
  return run as ApiObject
}

/**
 * Accepts the result that was judged, and no other: the operation also takes an acceptance of a result that nobody knows yet.
 * One that was given before is not given again.
 */
async function acceptHeldRun(api: ServiceClient, run_id: string): Promise<ApiObject> {
  const run = (await api.call('resolution.fusion-run.status', { run_id })) as AcceptedRun
  if (run.held === undefined && run.accept_poor) return run
  if (run.held === undefined)
    throw new CommandFailure(
      3,
      `the run ${run_id} is not held: it is ${run.state}, and has no poor result to accept`,
      'wait until it is held; to accept any result beforehand, start the run with --accept-poor',
    )
  return await resolveRun(api, run_id, { accept_poor: true }, { if_match: run.version as number })
}

export const definition = command({
  words: 'resolve accept',
  summary: 'Accept the result of a run that is held since its estimated quality is poor',
  notes: [
    'The registry is updated. A run that is not held is refused (exit code 3): to accept any result beforehand, start it',
    'with resolve start --accept-poor. With --threshold, the run resolves with that threshold instead, and is held again',
    '(exit code 6 with --wait) if that result is poor too.',
  ].join('\n'),
  positionals: { run: commandObjects.run.id },
  options: {
    threshold: decimal(
      'BITS',
      'Resolve with this threshold instead, and accept only a better result; default: that of the run',
      -1_000,
      1_000,
    ),
    wait: flag('Wait until the run has ended or is held'),
    ...serviceOptions,
  },
  example: 'platform resolve accept run_…',
  async run({ run: run_id, threshold, wait, ...params }, terminal) {
    const api = await connectService(params, terminal)
    const requested =
      threshold === undefined ? await acceptHeldRun(api, run_id) : await resolveRun(api, run_id, { threshold })
    const run = wait ? await waitForRun(api, requested, terminal) : requested
    printResult(terminal, params.json, run, () => formatFusionRun(terminal, run))
    const failure = wait ? findHeldRunFailure(run) : undefined
    if (failure) throw failure
    return 0
  },
})
