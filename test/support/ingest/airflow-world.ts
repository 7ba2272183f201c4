// A site whose pipelines run on a real Airflow, with workers on this machine.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { findExecutable } from '../command/run-executable.ts'
import { type AirflowGeneration, airflow } from '../engines/airflow.ts'
import { createEngineFolder, findFreePorts, type ServerProcess } from '../engines/server-process.ts'
import { openSchedulerWorld, runningClock, type SchedulerWorld } from './scheduler-world.ts'

export type AirflowWorld = SchedulerWorld & {
  readonly server: ServerProcess
  readonly dags: string
  readonly base_url: string
  /** Events of lineage, one a line. */
  readonly lineage: string
}

export async function openAirflowWorld(generation: AirflowGeneration): Promise<AirflowWorld> {
  const { folder, dispose } = createEngineFolder(`airflow-${generation}`)
  const own = path.join(folder, 'airflow')
  const dags = path.join(own, 'dags')
  const [port = 0] = await findFreePorts(1)
  const base_url = `http://127.0.0.1:${port}`
  const lineage = path.join(folder, 'lineage.jsonl')
  writeFileSync(lineage, '')
  const world = await openSchedulerWorld({
    folder,
    clock: runningClock(),
    profile: {
      identity: { audiences: { airflow: ['ingest'] } },
      ingest: {
        ...{ workflow_base_url: base_url, workflow_api_version: generation === 2 ? 'v1' : 'v2' },
        ...{
          workflow_timeout_s: 25,
          scheduler_tick_minutes: 1,
          lineage_sinks: [{ file: lineage, clearance: { level: 'TOP_SECRET' } }],
          workflow_dag_folder: dags,
          worker_command: findExecutable(),
          worker_folder: path.join(folder, 'worker'),
        },
      },
    },
  })
  const { site } = world
  const jwks_url = `${site.url('site')}/oauth2/jwks`
  const server = airflow({ generation, folder: own, port, issuer: siteIssuerUrn(site.name), jwks_url })
  const end = async () => {
    await server.kill()
    await world.end()
    dispose()
  }
  try {
    await server.start()
  } catch (error) {
    await end()
    throw error
  }
  return { ...world, server, dags, base_url, lineage, end }
}
