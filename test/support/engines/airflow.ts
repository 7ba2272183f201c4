// A real Airflow 2 or 3 for a test file, over a folder of its own, which accepts the tokens of one site.
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { repositoryRoot } from '../repository/source-tree.ts'
import { type ServerProcess, serverProcess } from './server-process.ts'

export type AirflowGeneration = 2 | 3

/** A Python environment with Airflow, and the database of an Airflow without DAGs, as `.ci/run` makes both. */
function homeOf(generation: AirflowGeneration): string {
  return process.env[`AIRFLOW_${generation}_HOME`] ?? ''
}

export function airflowRequirement(generation: AirflowGeneration) {
  const home = homeOf(generation)
  return {
    isPresent: existsSync(path.join(home, 'bin/airflow')) && existsSync(path.join(home, 'airflow.db')),
    name: `Airflow ${generation}`,
    hint: `AIRFLOW_${generation}_HOME must name its environment, as .ci/run makes one`,
  }
}

export type AirflowOptions = {
  readonly generation: AirflowGeneration
  /** Of the server alone: database, logs, and `dags`. */
  readonly folder: string
  readonly port: number
  /** Of the site whose tokens it accepts. */
  readonly issuer: string
  readonly jwks_url: string
}

/** Not started yet. */
export function airflow(options: AirflowOptions): ServerProcess {
  const { generation, folder, port } = options
  mkdirSync(path.join(folder, 'dags'), { recursive: true })
  copyFileSync(path.join(homeOf(generation), 'airflow.db'), path.join(folder, 'airflow.db'))
  if (generation === 2) writeFileSync(path.join(folder, 'webserver_config.py'), 'AUTH_ROLE_PUBLIC = None\n')
  const services = servicesOf[generation](port)
  const script = `${services.map((words) => `airflow ${words} &`).join('\n')}\nwait\n`
  return serverProcess(
    {
      name: `airflow-${generation}`,
      program: { command: 'bash', args: ['-c', script], env: buildEnvironment(options), cwd: folder },
      log: path.join(folder, 'log'),
      pid_file: path.join(folder, 'pid'),
    },
    () => isHealthy(options),
  )
}

const servicesOf: Readonly<Record<AirflowGeneration, (port: number) => readonly string[]>> = {
  2: (port) => ['scheduler --skip-serve-logs', `webserver --port ${port} --hostname 127.0.0.1`],
  3: () => ['scheduler --skip-serve-logs', 'dag-processor', 'api-server --apps all'],
}

const health = z.looseObject({
  scheduler: z.looseObject({ status: z.string().nullable() }),
  dag_processor: z.looseObject({ status: z.string().nullable() }).optional(),
})

async function isHealthy({ generation, port }: AirflowOptions): Promise<boolean> {
  const at = generation === 2 ? '/api/v1/health' : '/api/v2/monitor/health'
  const answer = await fetch(`http://127.0.0.1:${port}${at}`)
  const { scheduler, dag_processor } = health.parse(await answer.json())
  return scheduler.status === 'healthy' && (generation === 2 || dag_processor?.status === 'healthy')
}

function buildEnvironment({ generation, folder, port, issuer, jwks_url }: AirflowOptions): NodeJS.ProcessEnv {
  const bin = path.join(homeOf(generation), 'bin')
  const secret = randomBytes(32).toString('hex')
  const shared = {
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: folder, LC_ALL: 'C.UTF-8', PYTHONWARNINGS: 'ignore' },
    ...{ PYTHONPATH: path.join(repositoryRoot, 'test/support/engines/airflow'), PYTHONDONTWRITEBYTECODE: '1' },
    ...{ SITE_ISSUER: issuer, SITE_JWKS_URL: jwks_url, AIRFLOW_HOME: folder },
    AIRFLOW__CORE__DAGS_FOLDER: path.join(folder, 'dags'),
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN: `sqlite:///${folder}/airflow.db`,
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW__CORE__FERNET_KEY: randomBytes(32).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
    AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME: '0.2',
    AIRFLOW__USAGE_DATA_COLLECTION__ENABLED: 'False',
  }
  if (generation === 2)
    return {
      ...shared,
      AIRFLOW__CORE__EXECUTOR: 'forking_executor.ForkingExecutor',
      AIRFLOW__WEBSERVER__SECRET_KEY: secret,
      AIRFLOW__WEBSERVER__WORKERS: '1',
      AIRFLOW__API__AUTH_BACKENDS: 'bearer_backend',
      AIRFLOW__SCHEDULER__DAG_DIR_LIST_INTERVAL: '1',
      AIRFLOW__SCHEDULER__MIN_FILE_PROCESS_INTERVAL: '1',
      AIRFLOW__SCHEDULER__JOB_HEARTBEAT_SEC: '1',
      AIRFLOW__SCHEDULER__PARSING_PROCESSES: '1',
    }
  return {
    ...shared,
    AIRFLOW__CORE__EXECUTOR: 'LocalExecutor',
    AIRFLOW__CORE__PARALLELISM: '2',
    AIRFLOW__CORE__AUTH_MANAGER: 'bearer_manager.BearerManager',
    AIRFLOW__API_AUTH__JWT_SECRET: secret,
    AIRFLOW__API__SECRET_KEY: secret,
    AIRFLOW__API__WORKERS: '1',
    AIRFLOW__API__HOST: '127.0.0.1',
    AIRFLOW__API__PORT: `${port}`,
    AIRFLOW__API__BASE_URL: `http://127.0.0.1:${port}`,
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL: `http://127.0.0.1:${port}/execution/`,
    AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL: '1',
    AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL: '1',
    AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES: '1',
  }
}
