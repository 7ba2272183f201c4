// Settings of the ingest role.
import * as z from 'zod'
import { parseTrustedNetwork } from '../../kernel/network/special-addresses.ts'
import { registrationFields } from '../../kernel/settings/gateway-settings.ts'
import { type ListenerDeclaration, serviceListenerFields } from '../../kernel/settings/listener-settings.ts'
import { toolFields, traceFields } from '../../kernel/settings/platform-settings.ts'
import { settingsBlock } from '../../kernel/settings/settings.ts'
import { scannerSettings } from '../../shared/body-scanner/scanner-settings.ts'
import { projectPath, repositoryBranch, repositoryPath } from '../../shared/dag-repository/repository-layout.ts'
import { httpDataSource } from './http-source/model.ts'
import { httpTarget } from './http-target/model.ts'
import { lineageSinkSettings } from './lineage/sink.ts'

export const listener: ListenerDeclaration<''> = { prefix: '', env: 'PIPELINE', port: 8_008 }

export const settings = settingsBlock('ingest', {
  ...serviceListenerFields(listener),
  ...traceFields('PIPELINE'),
  ...toolFields('PIPELINE'),
  ...registrationFields('PIPELINE'),
  data_folder: z.string().min(1).max(4_096).optional().meta({
    env: 'PIPELINE_DATA_FOLDER',
    doc: 'Folder with files for pipelines, in one sub-folder for each tenant, named after it; absent: pipelines read no files.',
  }),
  output_folder: z.string().min(1).max(4_096).optional().meta({
    env: 'PIPELINE_OUTPUT_FOLDER',
    doc: 'Folder for files that pipelines write, in TENANT/PIPELINE; absent: `ingest/output` in the data folder of the site.',
  }),
  landing_folder: z.string().min(1).max(4_096).optional().meta({
    env: 'PIPELINE_LANDING_FOLDER',
    doc: 'Folder of landing zones, in TENANT/PIPELINE; absent: `ingest/landing` in the data folder of the site.',
  }),
  landing_max_file_mb: z.int().min(1).max(1_048_576).default(4_096).meta({
    doc: 'Maximum size of a file in a landing zone, in MB; larger ones go to quarantine.',
  }),
  landing_settle_s: z.int().min(0).max(3_600).default(10).meta({
    doc: 'A file in a landing zone counts as whole once nothing has changed it for this long, in seconds.',
  }),
  landing_keep_days: z.int().min(1).max(3_650).default(30).meta({
    doc: 'Days for which a landing zone keeps files that have landed, and receipts. Quarantine is kept until a person empties it.',
  }),
  landing_scanner: scannerSettings.optional().meta({
    doc: 'Program and arguments that scan each file of a landing zone, as `filedrop.scanner`; only in the profile.',
  }),
  lineage_sinks: z.array(lineageSinkSettings).max(4).default([]).meta({
    doc: 'Where the lineage of runs goes as events of OpenLineage: a `file`, or the `url` of a collector; each with the `clearance` of those who read there. Only in the profile.',
  }),
  workflow_base_url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/[@?#]/.test(url), 'must not contain credentials, a query or a fragment')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({
      env: 'WORKFLOW_BASE_URL',
      doc: 'Base URL of Airflow, such as https://airflow:8080; absent: the site runs pipelines itself.',
    }),
  workflow_api_version: z.enum(['v1', 'v2']).default('v1').meta({
    env: 'WORKFLOW_API_VERSION',
    doc: 'v1: Airflow 2; v2: Airflow 3.',
  }),
  workflow_verify: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true'), z.string().startsWith('/')])
    .default(true)
    .meta({
      env: 'WORKFLOW_VERIFY',
      doc: 'true: the certificate of Airflow is verified with the authorities of the system; a path: with those of this PEM file; false: not at all, which profiles C and D refuse.',
    }),
  workflow_audience: z.string().min(1).max(256).default('airflow').meta({
    env: 'WORKFLOW_AUDIENCE',
    doc: 'Audience of the tokens for Airflow, which identity.audiences permits to this role.',
  }),
  workflow_timeout_s: z.number().min(0.1).max(25).default(10).meta({
    env: 'WORKFLOW_TIMEOUT',
    doc: 'Longest time of a request to Airflow, in seconds.',
  }),
  workflow_dag_folder: z.string().startsWith('/').max(4_096).optional().meta({
    env: 'WORKFLOW_DAG_FOLDER',
    doc: 'Folder that Airflow reads DAGs from, in which the site writes those of pipelines and the scheduler DAG.',
  }),
  worker_command: z.string().startsWith('/').max(4_096).default('/usr/local/bin/platform').meta({
    env: 'WORKFLOW_WORKER_COMMAND',
    doc: 'Path of the executable on workers of Airflow.',
  }),
  worker_folder: z.string().startsWith('/').max(4_096).optional().meta({
    env: 'WORKFLOW_WORKER_FOLDER',
    doc: 'Folder that all workers of Airflow and the site share: landed datasets, ticks of the scheduler DAG, and tasks that the site performs.',
  }),
  worker_data_folder: z.string().startsWith('/').max(4_096).optional().meta({
    env: 'WORKFLOW_WORKER_DATA_FOLDER',
    doc: 'Folder of data files on workers of Airflow, as data_folder is on the site; absent: data_folder.',
  }),
  worker_output_folder: z.string().startsWith('/').max(4_096).optional().meta({
    env: 'WORKFLOW_WORKER_OUTPUT_FOLDER',
    doc: 'Folder on workers of Airflow for files that pipelines write; absent: output_folder, or else `output` in worker_folder.',
  }),
  dag_repo_url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/[@?#]/.test(url), 'must not contain credentials, a query or a fragment')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .meta({
      env: 'DAG_REPO_URL',
      doc: 'URL of the git host that keeps DAGs, such as https://git.example; absent: a bare repository in the data folder of the site.',
    }),
  dag_repo_kind: z.enum(['gitlab', 'gitea']).default('gitlab').meta({
    env: 'DAG_REPO_KIND',
    doc: 'Interface of the git host: GitLab; or Gitea, which Forgejo has too.',
  }),
  dag_repo_token: z.string().min(1).max(1_024).optional().meta({
    env: 'DAG_REPO_TOKEN',
    secret: true,
    doc: 'Access token of the site at the git host, which may write the project.',
  }),
  dag_repo_project: projectPath.optional().meta({
    env: 'DAG_REPO_PROJECT',
    doc: 'Path of the project at the git host, such as data/dags.',
  }),
  dag_repo_check: z.string().min(1).max(255).optional().meta({
    env: 'DAG_REPO_CHECK',
    doc: 'Name of the commit status (GitLab: of the job) that is the check of DAGs; absent: all statuses of a commit count together.',
  }),
  dag_repo_ca_file: z.string().min(1).max(4_096).optional().meta({
    env: 'DAG_REPO_CA_FILE',
    doc: 'Authorities (PEM) for the TLS certificate of the git host, instead of the machine’s.',
  }),
  dag_repo_timeout_s: z.number().min(0.1).max(25).default(10).meta({
    env: 'DAG_REPO_TIMEOUT',
    doc: 'Longest time of a request to the git host, in seconds.',
  }),
  dag_repo_branch: repositoryBranch.default('main').meta({
    env: 'DAG_REPO_BRANCH',
    doc: 'Branch of live DAGs in the DAG repository.',
  }),
  dag_repo_dag_path: repositoryPath.default('dags').meta({
    env: 'DAG_REPO_DAG_PATH',
    doc: 'Folder of live DAGs on that branch.',
  }),
  dag_repo_test_path: repositoryPath.default('tests').meta({
    env: 'DAG_REPO_TEST_PATH',
    doc: 'Folder of the DAGs of journey tests on that branch.',
  }),
  dag_repo_pending_path: repositoryPath.default('pending').meta({
    env: 'DAG_REPO_PENDING_PATH',
    doc: 'Folder of a DAG that awaits its check, on a branch of its own.',
  }),
  dag_repo_catalog_path: repositoryPath.default('catalog.json').meta({
    env: 'DAG_REPO_CATALOG_PATH',
    doc: 'File of the catalog of operators, which is committed with each DAG.',
  }),
  hook_check_timeout_s: z.number().min(0.1).max(25).default(5).meta({
    env: 'WORKFLOW_HOOK_CHECK_TIMEOUT',
    doc: 'Longest time of the test of a connection, in seconds.',
  }),
  trusted_networks: z
    .array(
      z
        .string()
        .refine(
          (text) => parseTrustedNetwork(text) !== undefined,
          'must be a network such as 10.1.2.0/24, of 8 bits or more, or one address',
        ),
    )
    .max(256)
    .default([])
    .meta({
      doc: 'Private networks that connections and sources may lead to; only in the profile, not by environment.',
    }),
  http_sources: z
    .array(httpDataSource)
    .max(256)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have unique names')
    .default([])
    .meta({
      doc: 'Places from which pipelines download files over HTTP, by the operator ingest_http; no others are reached.',
    }),
  http_targets: z
    .array(httpTarget)
    .max(256)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have unique names')
    .default([])
    .meta({
      doc: 'Services to which tasks of journey tests and dispatched effects send requests over HTTP; no others are reached. Only in the profile.',
    }),
  objects_max_file_mb: z.int().min(1).max(1_048_576).default(4_096).meta({
    doc: 'Maximum size of an object that the operator ingest_objects downloads, in MB.',
  }),
  objects_max_run_mb: z.int().min(1).max(1_048_576).default(16_384).meta({
    doc: 'Maximum size of the objects of one task together, in MB: they are on disk until the dataset has landed.',
  }),
  download_scanner: scannerSettings.optional().meta({
    doc: 'Program and arguments that scan each downloaded file or object before it is read; its path is the last argument. Exit 0: clean; 1: refused; any other code fails the try. It runs as `filedrop.scanner` does.',
  }),
  scheduler_tick_minutes: z.int().min(1).max(1_440).default(30).meta({
    env: 'PIPELINE_SCHEDULER_TICK_MINUTES',
    doc: 'Shortest time between two scheduled runs of a pipeline, in minutes; a schedule that recurs more often is refused. With Airflow also the interval of the scheduler DAG.',
  }),
  scheduler_index: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be lower-case letters, digits, _ and -')
    .default('pipeline-scheduler')
    .meta({
      env: 'PIPELINE_SCHEDULER_INDEX',
      doc: 'Documented name of the index of scheduler records in a cluster, after the prefix of the site.',
    }),
  workers: z.int().min(1).max(64).default(1).meta({
    env: 'PIPELINE_WORKERS',
    doc: 'Number of workers of a process: each performs `runs_at_once` runs of the embedded scheduler at a time.',
  }),
  runs_at_once: z.int().min(1).max(64).default(2).meta({
    doc: 'Runs of the embedded scheduler that a worker performs at a time.',
  }),
  runs_at_once_per_tenant: z.int().min(1).max(64).default(2).meta({ doc: 'Those of one tenant among them.' }),
  task_memory_mb: z.int().min(64).max(16_384).default(512).meta({ doc: 'Maximum memory of a task, in MB.' }),
})
