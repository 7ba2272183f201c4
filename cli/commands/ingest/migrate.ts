// Takes pipelines and connections over from a service that ran them before, in two phases.
import type { ServiceClient } from '../../client/client.ts'
import { copyObjects, describeCopy } from '../../migration/copy-objects.ts'
import { openFormerService } from '../../migration/former-service.ts'
import type { MigrationRow } from '../../migration/migration-row.ts'
import { planCopy, planSwitch } from '../../migration/plan.ts'
import { fetchPresent } from '../../migration/present-objects.ts'
import { describeSwitch, switchPipelines } from '../../migration/switch-pipelines.ts'
import { readSecretOption, secretFile } from '../../options/secret-option.ts'
import { connectService, readServiceUrl, serviceOptions } from '../../options/service-options.ts'
import { CommandFailure, command } from '../../program/command.ts'
import { choice, flag, required, text, withDefault } from '../../program/params.ts'
import { formatTable } from '../../terminal/output.ts'
import { printWholeList } from '../../terminal/print-items.ts'

export const definition = command({
  words: 'ingest migrate',
  summary: 'Take pipelines and connections over from a service that ran them before',
  notes: [
    'Phase "copy" creates the connections of the former service here, without their secrets, which no service gives out,',
    'and deploys its pipelines here, paused and without schedule: it goes on as before. Phase "switch" pauses each',
    'pipeline there, and then gives it its schedule and resumes it here. Both can be repeated: what is done is left alone.',
    '--dry-run changes nothing, and says what would be done. Exit code 5 if something is left for people to do.',
  ].join('\n'),
  options: {
    from: required(text('URL', 'Root of the interface of the former service, such as https://old.example/userspace')),
    fromTokenFile: secretFile('Bearer token for the former service'),
    fromCa: text('FILE', 'Authorities in PEM that may have signed its certificate (default: those of Node)'),
    phase: withDefault('copy', choice('PHASE', 'Phase of the migration', ['copy', 'switch'])),
    dryRun: flag('Change nothing, and say what would be done'),
    ...serviceOptions,
  },
  example: 'platform ingest migrate --from https://old.example/userspace --from-token-file old.token --dry-run',
  async run({ from, fromTokenFile, fromCa, phase, dryRun, ...params }, terminal) {
    const token = await readSecretOption(fromTokenFile, 'token', terminal)
    if (token === undefined)
      throw new CommandFailure(2, '--from-token-file is required: a private file, or - for stdin')
    const former = openFormerService(readServiceUrl(from, fromCa), token)
    const api = await connectService(params, terminal)
    const migrate = phase === 'switch' ? switchAll : copyAll
    const rows = await migrate(api, former, dryRun)
    printWholeList(terminal, params.json, rows, () =>
      formatTable(terminal, rows, ['object', 'name', 'action', 'detail'], 'the former service has nothing'),
    )
    return rows.some(({ is_open }) => is_open) ? 5 : 0
  },
})

type Former = ReturnType<typeof openFormerService>

async function copyAll(api: ServiceClient, former: Former, dryRun: boolean): Promise<readonly MigrationRow[]> {
  const [connections, pipelines, present] = [
    await former.connections(),
    await former.pipelines(),
    await fetchPresent(api),
  ]
  const plan = planCopy({ connections, pipelines }, present)
  return dryRun ? describeCopy(plan) : await copyObjects(api, plan)
}

async function switchAll(api: ServiceClient, former: Former, dryRun: boolean): Promise<readonly MigrationRow[]> {
  const steps = planSwitch(await former.pipelines(), (await fetchPresent(api)).pipelines)
  return dryRun ? steps.map(describeSwitch) : await switchPipelines(api, former, steps)
}
