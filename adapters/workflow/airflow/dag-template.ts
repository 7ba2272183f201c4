// The code of every DAG file for Airflow: it has no part of any DAG, which it reads from one literal.

/** Replaced by the literal. */
export const specification_mark = '@SPECIFICATION@'

/**
 * The operator has no template fields, so that Airflow renders nothing of a DAG as Jinja. A task passes its document by stdin, since
 * it may hold a secret, and its result, a JSON text, to the tasks after it. Exit code 2 and 3: another try would fail in the same way.
 */
export const dag_template = `# Made by platform from an assembled DAG: the next deployment replaces this file.
import inspect
import json
import subprocess
import threading
from datetime import datetime, timedelta, timezone

try:  # Airflow 3
    from airflow.sdk import DAG, BaseHook, BaseOperator
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.hooks.base import BaseHook
    from airflow.models.baseoperator import BaseOperator
from airflow.exceptions import AirflowException, AirflowFailException

SPECIFICATION = json.loads(${specification_mark})
MAX_RESULT = 1 << 22
STOP_SECONDS = 15
SITE = SPECIFICATION.get("site", {"tasks": []})
# A task that the site performs may wait there for others, or for a restart.
SITE_WAIT_SECONDS = 3600
# Each wait is twice the one before: a multiplier in later releases, a flag in earlier ones.
BACKOFF = inspect.signature(BaseOperator.__init__).parameters["retry_exponential_backoff"].default


class PlatformStep(BaseOperator):
    template_fields = ()
    process = None

    def __init__(self, *, step, **kwargs):
        super().__init__(**kwargs)
        self.step = step

    def execute(self, context):
        document = json.dumps(self.make_document(context))
        command = [*SPECIFICATION["command"], "--json"]
        self.process = process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
        )
        log = threading.Thread(target=self.copy_log, args=(process.stderr,), daemon=True)
        log.start()
        try:
            try:
                process.stdin.write(document)
                process.stdin.close()
            except BrokenPipeError:
                pass
            result = process.stdout.read(MAX_RESULT)
            code = process.wait()
            log.join(STOP_SECONDS)
        finally:
            self.on_kill()
        if code == 0:
            made = json.loads(result)
            return json.dumps({name: made[name] for name in ("dataset", "lineage", "requested") if name in made})
        final = code in (2, 3)
        raise (AirflowFailException if final else AirflowException)("the step ended with exit code %d: its log is above" % code)

    def make_document(self, context):
        run = context["dag_run"]
        start = getattr(run, "start_date", None)
        inputs = []
        for name in self.step["after"]:
            made = context["ti"].xcom_pull(task_ids=name)
            dataset = json.loads(made).get("dataset") if made else None
            if dataset is not None:
                inputs.append(dataset)
        document = {
            "format": 1,
            "tenant_id": SPECIFICATION["tenant_id"],
            "pipeline": SPECIFICATION["pipeline"],
            "run": "%s.%s.%s" % (SPECIFICATION["pipeline"], run.run_id, start.timestamp() if start else 0),
            "task": self.step,
            "inputs": inputs,
        }
        if self.task_id in SITE["tasks"]:
            names = {"name": SITE["name"], "dag_digest": SITE["dag_digest"]}
            document["site"] = {**names, "dag_run_id": run.run_id, "attempt": context["ti"].try_number}
            return document
        connection_id = self.step["params"].get("connection_id")
        if isinstance(connection_id, str):
            document["connection"] = self.read_connection(connection_id)
        return document

    def read_connection(self, connection_id):
        found = BaseHook.get_connection("platform_" + connection_id)
        connection = json.loads(found.extra)
        if found.password and found.password != "{}":
            connection["secret"] = found.password
        return connection

    def copy_log(self, lines):
        for line in lines:
            self.log.info("%s", line.rstrip())

    def on_kill(self):
        process = self.process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()


with DAG(
    dag_id=SPECIFICATION["airflow_id"],
    schedule=None,
    start_date=datetime(2020, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    is_paused_upon_creation=False,
    tags=["platform", SPECIFICATION["version"]],
) as dag:
    steps = {}
    for task in SPECIFICATION["tasks"]:
        margin = SITE_WAIT_SECONDS if task["name"] in SITE["tasks"] else 60
        steps[task["name"]] = step = PlatformStep(
            task_id=task["name"],
            step=task,
            retries=task["retries"],
            retry_delay=timedelta(seconds=task["retry_delay_s"]),
            retry_exponential_backoff=True if isinstance(BACKOFF, bool) else 2,
            max_retry_delay=timedelta(days=1),
            execution_timeout=timedelta(seconds=task["time_limit_s"] + margin),
        )
        for name in task["after"]:
            steps[name].set_downstream(step)
`

/**
 * For a DAG file in Python: its one DAG gets the name that the site manages it by, and the tag of its version. With another
 * number of DAGs, or another name, Airflow shows an import error, and the DAG is not there.
 */
export const python_template = `# Made by platform from a DAG file in Python: the next deployment replaces this file.
import json

try:  # Airflow 3
    from airflow.sdk import DAG
    from airflow.sdk.definitions._internal.contextmanager import DagContext
except ImportError:  # Airflow 2
    from airflow.models.dag import DAG, DagContext

SPECIFICATION = json.loads(${specification_mark})


def find_dags():
    found = [value for value in globals().values() if isinstance(value, DAG)]
    found.extend(entry[0] for entry in getattr(DagContext, "autoregistered_dags", ()))
    return list({id(each): each for each in found}.values())


exec(compile(SPECIFICATION["text"], __file__, "exec", dont_inherit=True), globals())
dags = find_dags()
if [each.dag_id for each in dags] != [SPECIFICATION["dag_id"]]:
    raise ValueError("the file must have one DAG, called %s" % SPECIFICATION["dag_id"])
dag = dags[0]
dag.dag_id = SPECIFICATION["airflow_id"]
dag.tags = [*(dag.tags or ()), "platform", SPECIFICATION["version"]]
if dag.is_paused_upon_creation is None:
    dag.is_paused_upon_creation = False
`
