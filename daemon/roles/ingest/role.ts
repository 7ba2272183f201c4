// The ingest role: its collections, operations, jobs and metrics.
import { jobLeases } from '../../kernel/job/lease.ts'
import { type Role, role } from '../../kernel/role/role.ts'
import { dataKeys } from '../../kernel/secret/stored-data-key.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import * as connectionCreate from './connection/create.ts'
import * as connectionGet from './connection/get.ts'
import * as connectionList from './connection/list.ts'
import { connections } from './connection/model.ts'
import { register } from './connection/register.ts'
import * as connectionRemove from './connection/remove.ts'
import { revise } from './connection/revise.ts'
import { schema } from './connection/schema.ts'
import { statuses } from './connection/statuses.ts'
import * as connectionTest from './connection/test.ts'
import * as connectionUpdate from './connection/update.ts'
import { list as dagList } from './dag/list.ts'
import { errors } from './dag-run/errors.ts'
import * as runGet from './dag-run/get.ts'
import * as runList from './dag-run/list.ts'
import * as runRemove from './dag-run/remove.ts'
import * as runStatus from './dag-run/status.ts'
import { trigger } from './dag-run/trigger.ts'
import { deploy } from './datapipeline/deploy.ts'
import { deploymentJob } from './datapipeline/deployment-job.ts'
import { get } from './datapipeline/get.ts'
import { list } from './datapipeline/list.ts'
import { metrics as metricsOfPipeline } from './datapipeline/metrics.ts'
import { pipelines } from './datapipeline/model.ts'
import { pause } from './datapipeline/pause.ts'
import { remove } from './datapipeline/remove.ts'
import { run } from './datapipeline/run.ts'
import { runs } from './datapipeline/runs.ts'
import { status } from './datapipeline/status.ts'
import { statuses as statusesOfPipelines } from './datapipeline/statuses.ts'
import { stop } from './datapipeline/stop.ts'
import { template } from './datapipeline/template.ts'
import { templates } from './datapipeline/templates.ts'
import { unpause } from './datapipeline/unpause.ts'
import { update } from './datapipeline/update.ts'
import * as scheduleGet from './datapipeline-schedule/get.ts'
import * as scheduleList from './datapipeline-schedule/list.ts'
import { pipelineSchedules } from './datapipeline-schedule/model.ts'
import { scheduleJob } from './datapipeline-schedule/schedule-job.ts'
import { set } from './datapipeline-schedule/set.ts'
import { create as createEffect } from './effect/create.ts'
import { effectDeploymentJob } from './effect/deployment-job.ts'
import { dispatch as dispatchEffect } from './effect/dispatch.ts'
import { get as getEffect } from './effect/get.ts'
import { list as listEffects } from './effect/list.ts'
import { metrics as metricsOfEffect } from './effect/metrics.ts'
import { effects } from './effect/model.ts'
import { operator as operatorOfEffects } from './effect/operator.ts'
import { operators as operatorsOfEffects } from './effect/operators.ts'
import { pause as pauseEffect } from './effect/pause.ts'
import { remove as removeEffect } from './effect/remove.ts'
import { run as runEffect } from './effect/run.ts'
import { runs as runsOfEffect } from './effect/runs.ts'
import { schema as schemaOfEffects } from './effect/schema.ts'
import { status as statusOfEffect } from './effect/status.ts'
import { statuses as statusesOfEffects } from './effect/statuses.ts'
import { stop as stopEffect } from './effect/stop.ts'
import { unpause as unpauseEffect } from './effect/unpause.ts'
import { update as updateEffect } from './effect/update.ts'
import { failureReports } from './failure-report/model.ts'
import { takeDataset } from './federation/dataset.ts'
import { findHttpPlacesFault } from './http-source/faults.ts'
import { landingZones } from './landing-zone/model.ts'
import { landingZoneJob } from './landing-zone/zone-job.ts'
import { metrics } from './metrics.ts'
import { list as operatorList } from './operator/list.ts'
import { outline } from './outline.ts'
import { readCursors } from './read-cursor/model.ts'
import { resources } from './resources.ts'
import { runMetrics } from './run-metric/model.ts'
import { runWatches } from './run-watch/model.ts'
import { watchJob } from './run-watch/watch-job.ts'
import { dagRuns, taskLogs } from './runner/model.ts'
import { runJob } from './runner/run-job.ts'
import { scheduleTicks } from './schedule-tick/model.ts'
import { settings } from './settings.ts'
import { failureSignals } from './workers/failure-signals.ts'
import { landingZonePurge, landingZoneWatch } from './workers/landing-zones.ts'
import { lineageEvents } from './workers/lineage-events.ts'
import { runMetricsWorker } from './workers/run-metrics.ts'
import { scheduleClock } from './workers/schedule-clock.ts'
import { scheduleTicksWorker } from './workers/schedule-ticks.ts'
import { siteTasks } from './workers/site-tasks.ts'
import { capabilities } from './workflow/capabilities.ts'
import { health } from './workflow/health.ts'

export const ingest: Role = role(outline, {
  collections: [
    ...[pipelines, pipelineSchedules, landingZones, connections, effects, dagRuns, taskLogs, readCursors, runMetrics],
    ...[runWatches, scheduleTicks, failureReports, jobLeases, dataKeys],
  ],
  documentedNames: (resolved) => ({ 'pipeline-scheduler': getSettings(resolved, settings).scheduler_index }),
  metrics,
  jobs: [deploymentJob, effectDeploymentJob, runJob, scheduleJob, landingZoneJob, watchJob],
  workers: [
    scheduleClock,
    scheduleTicksWorker,
    siteTasks,
    runMetricsWorker,
    landingZoneWatch,
    landingZonePurge,
    lineageEvents,
    failureSignals,
  ],
  operations: {
    datapipeline: {
      ...{ deploy, list, get, update, remove, status, statuses: statusesOfPipelines, templates, template },
      ...{ pause, unpause, run, stop, runs, metrics: metricsOfPipeline },
    },
    'datapipeline-schedule': { set, get: scheduleGet.get, list: scheduleList.list },
    effect: {
      create: createEffect,
      list: listEffects,
      get: getEffect,
      update: updateEffect,
      remove: removeEffect,
      status: statusOfEffect,
      statuses: statusesOfEffects,
      pause: pauseEffect,
      unpause: unpauseEffect,
      run: runEffect,
      stop: stopEffect,
      runs: runsOfEffect,
      metrics: metricsOfEffect,
      dispatch: dispatchEffect,
      schema: schemaOfEffects,
      operators: operatorsOfEffects,
      operator: operatorOfEffects,
    },
    connection: {
      ...{ schema, create: connectionCreate.create, register, get: connectionGet.get, list: connectionList.list },
      ...{ update: connectionUpdate.update, revise, remove: connectionRemove.remove },
      ...{ test: connectionTest.test, statuses },
    },
    dag: { list: dagList },
    'dag-run': {
      trigger,
      list: runList.list,
      get: runGet.get,
      status: runStatus.status,
      errors,
      remove: runRemove.remove,
    },
    workflow: { health, capabilities },
    operator: { list: operatorList },
    federation: { dataset: takeDataset },
  },
  messages: { dataset: takeDataset },
  refusesToStart: findHttpPlacesFault,
  resources,
  serviceInfo: ({ deployment_profile }) => ({
    name: 'pipeline-service',
    description: 'Pipelines that take data in, on a workflow scheduler or without one',
    health_path: '/health',
    api_path: '/userspace',
    capabilities: [
      'dag-management',
      'connection-management',
      'workflow-orchestration',
      'data-ingestion',
      'pipeline-management',
      'pipeline-scheduling',
      'effect-engine',
    ],
    objects: ['datapipeline', 'datapipelineconnection', 'dataeffect'],
    deployment_profile,
  }),
})
