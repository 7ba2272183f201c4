// The scheduler DAG: the clock by which a site evaluates the schedules of its pipelines and effects. It has no credential, and
// triggers nothing at Airflow itself.
import { createHash } from 'node:crypto'
import { versionTag } from './dag-names.ts'
import { specification_mark } from './dag-template.ts'
import { pythonLiteral } from './render-dag.ts'

/** `command`: of a tick on a worker, without its time. */
export type RenderedScheduler = {
  readonly site: string
  readonly interval_minutes: number
  readonly command: readonly string[]
}

const template = `# Made by platform: the clock of the schedules of a site. The start of the site replaces this file.
import json
import subprocess
from datetime import datetime, timedelta, timezone

try:  # Airflow 3
    from airflow.sdk import DAG, BaseOperator
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.models.baseoperator import BaseOperator
from airflow.exceptions import AirflowException

SPECIFICATION = json.loads(${specification_mark})
LIMIT_SECONDS = 60


class PlatformTick(BaseOperator):
    template_fields = ()

    def execute(self, context):
        run = context["dag_run"]
        at = getattr(run, "run_after", None) or getattr(run, "data_interval_end", None) or datetime.now(timezone.utc)
        command = [*SPECIFICATION["command"], "--at", at.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_SECONDS,
        )
        for line in done.stdout.splitlines()[:100]:
            self.log.info("%s", line)
        if done.returncode != 0:
            raise AirflowException("the tick ended with exit code %d: its log is above" % done.returncode)


schedule = SPECIFICATION["schedule"]
with DAG(
    dag_id=SPECIFICATION["dag_id"],
    schedule=schedule if isinstance(schedule, str) else timedelta(minutes=schedule),
    start_date=datetime(2020, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=timedelta(minutes=10),
    is_paused_upon_creation=False,
    tags=["platform", SPECIFICATION["version"]],
) as dag:
    PlatformTick(
        task_id="tick",
        retries=2,
        retry_delay=timedelta(seconds=10),
        execution_timeout=timedelta(seconds=2 * LIMIT_SECONDS),
    )
`

export function renderScheduler({ site, interval_minutes, command }: RenderedScheduler): string {
  const specification = { dag_id: schedulerDagName(site), schedule: scheduleOf(interval_minutes), command }
  const digest = createHash('sha256')
    .update(JSON.stringify([specification, template]))
    .digest('hex')
  const json = JSON.stringify({ ...specification, version: versionTag(digest) })
  return template.replace(specification_mark, () => pythonLiteral(json))
}

/** Several sites may share an Airflow. */
function schedulerDagName(site: string): string {
  return `platform_scheduler__${site}`
}

/** At the times of the clock where the interval divides the hour or the day, as schedules are; else that many minutes apart. */
function scheduleOf(minutes: number): string | number {
  if (60 % minutes === 0) return minutes === 60 ? '0 * * * *' : `*/${minutes} * * * *`
  if (minutes % 60 === 0 && 1_440 % minutes === 0) return minutes === 1_440 ? '0 0 * * *' : `0 */${minutes / 60} * * *`
  return minutes
}
