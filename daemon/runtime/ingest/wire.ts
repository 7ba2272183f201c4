// Wires the ingest role to adapters: its scheduler, and the threads that perform tasks.
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { libraries } from '../../../adapters/platform/product/product.ts'
import { faultStop } from '../../boot/host/fault-stop.ts'
import type { RoleWire, WireContext } from '../../boot/role-wire.ts'
import type { Dependency } from '../../kernel/role/dependency.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { incomingSetsPart } from '../../roles/ingest/landing-zone/incoming-sets.ts'
import { landingZoneFilesPart } from '../../roles/ingest/landing-zone/zone-files.ts'
import { lineageSinksPart } from '../../roles/ingest/lineage/sink.ts'
import {
  emptyHandover,
  type SiteTaskHandover,
  siteTaskHandoverPart,
} from '../../roles/ingest/partial-run/site-task-handover.ts'
import {
  connectionProberPart,
  datasetCutterPart,
  faultPointPart,
  scheduleParserPart,
  taskPerformerPart,
  workerPackagesPart,
} from '../../roles/ingest/parts.ts'
import { embeddedScheduler } from '../../roles/ingest/runner/embedded-scheduler.ts'
import { settings } from '../../roles/ingest/settings.ts'
import { dagRepositoryPart } from '../../shared/dag-repository/dag-repository.ts'
import { type WorkflowScheduler, workflowSchedulerPart } from '../../shared/workflow-scheduler/workflow-scheduler.ts'
import { findAirflowProblems } from './airflow/start-checks.ts'
import { openConnectionProber } from './connection/open-prober.ts'
import { openLineageSinks } from './lineage/open-lineage-sinks.ts'
import { findCutterSettings, openTaskPerformer, readSourceSettings } from './open-task-performer.ts'
import { ingestThreads } from './perform-try.ts'
import { openDagRepository } from './repository/open-repository.ts'
import { repositoryDependency } from './repository/repository-health.ts'
import { findRepositoryProblems } from './repository/start-checks.ts'
import { checkEmbeddedScheduler, schedulerDependency } from './scheduler-health.ts'
import { openDatasetCutter } from './sending/open-cutter.ts'
import { openLandingZones } from './zone/open-zones.ts'

export const wire: RoleWire = {
  findStartProblems: async ({ resolved }) => [...findAirflowProblems(resolved), ...findRepositoryProblems(resolved)],

  async open(context) {
    const { folder, resolved } = context.resources
    const { scheduler, dependencies, handover, stop } = await openScheduler(context)
    const sources = readSourceSettings(folder, resolved)
    const repository = await openDagRepository(context)
    const zones = await openLandingZones(context)
    return {
      parts: [
        [workflowSchedulerPart.name, scheduler],
        [dagRepositoryPart.name, repository],
        [siteTaskHandoverPart.name, handover],
        [taskPerformerPart.name, await openTaskPerformer(context.resources)],
        [workerPackagesPart.name, [{ name: 'node', version: process.versions.node }, ...libraries]],
        [scheduleParserPart.name, parseSchedule],
        [faultPointPart.name, faultStop ?? (() => undefined)],
        [lineageSinksPart.name, openLineageSinks(getSettings(resolved, settings).lineage_sinks)],
        [landingZoneFilesPart.name, zones.files],
        [incomingSetsPart.name, zones.sets],
        [datasetCutterPart.name, openDatasetCutter(ingestThreads, findCutterSettings(context.resources))],
        [connectionProberPart.name, openConnectionProber(ingestThreads, sources)],
      ],
      dependencies: [schedulerDependency(scheduler), ...dependencies, repositoryDependency(repository)],
      async stop() {
        repository.close()
        await stop()
      },
    }
  },
}

type OpenScheduler = {
  readonly scheduler: WorkflowScheduler
  readonly dependencies: readonly Dependency[]
  readonly handover: SiteTaskHandover
  readonly stop: () => Promise<void>
}

async function openScheduler(context: WireContext): Promise<OpenScheduler> {
  const { workflow_base_url } = getSettings(context.resources.resolved, settings)
  if (workflow_base_url === undefined) {
    const health = () => checkEmbeddedScheduler(context.storage.store)
    return {
      scheduler: { ...embeddedScheduler, health },
      dependencies: [],
      handover: emptyHandover,
      stop: async () => undefined,
    }
  }
  const { openAirflow } = await import('./airflow/open-airflow.ts')
  const { scheduler, dependency, handover } = await openAirflow(context, workflow_base_url)
  return { scheduler, dependencies: [dependency], handover, stop: async () => scheduler.close() }
}
