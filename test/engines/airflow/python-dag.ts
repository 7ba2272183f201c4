// A DAG file in Python for both releases of Airflow.
export function pythonDag(dag_id: string, text: string): string {
  return `from datetime import datetime
try:
    from airflow.sdk import dag, task
except ImportError:
    from airflow.decorators import dag, task

@dag(dag_id=${JSON.stringify(dag_id)}, schedule=None, start_date=datetime(2024, 1, 1), catchup=False)
def build():
    @task
    def greet():
        print("hello of ${text}")
    greet()

build()
`
}
