// Names of the steps of this role at which a test build can end its process.

/** Steps of a task that takes messages of a queue. */
export const queueFaultPoints = ['ingest-queue-landed', 'ingest-queue-acknowledged'] as const

/** `watched`: the site watches a run that Airflow does not have yet; `ticked`: a tick permits the time of a schedule, and nothing is triggered; `taken`: the site has a task of a worker, and did not begin it. */
export const airflowFaultPoints = ['ingest-run-watched', 'ingest-schedule-ticked', 'ingest-site-task-taken'] as const

/**
 * `principal`: before the document of the request is stored; `stored`: before its answer; `proposed`: the DAG repository has the content of a
 * deployment, and its document does not say so; `claimed`: it has its connection, and its DAG is not live; `published`: it is live at
 * the repository alone; `staged`: the rows of a source are on disk; `drafted`: a dataset is, without its name; `landed`: a dataset of messages
 * is durable, and its queue does not know; `acknowledged`: the queue knows, and the run does not; `held`: a run has the cursor of a task; `moved`: the cursor is at the dataset, and the run does not know of it.
 */
export const ingestFaultPoints = [
  ...['ingest-deploy-principal', 'ingest-deploy-stored', 'ingest-deploy-proposed', 'ingest-deploy-claimed'],
  ...['ingest-deploy-published', 'ingest-deploy-live'],
  ...['ingest-deploy-triggered', 'ingest-deploy-ended', 'ingest-trigger-principal', 'ingest-trigger-stored'],
  ...airflowFaultPoints,
  ...['ingest-task-begun', 'ingest-landing-staged', 'ingest-landing-drafted', 'ingest-landing-named'],
  ...queueFaultPoints,
  ...['ingest-cursor-held', 'ingest-cursor-moved'],
  ...['ingest-task-performed', 'ingest-task-logged', 'ingest-task-ended', 'ingest-run-ended'],
  ...['ingest-failure-reported'],
  ...['ingest-arrival-taken', 'ingest-arrival-triggered', 'ingest-arrival-finished'],
  ...['ingest-schedule-set', 'ingest-schedule-triggering', 'ingest-schedule-triggered', 'ingest-schedule-ended'],
] as const
export type IngestFaultPoint = (typeof ingestFaultPoints)[number]
