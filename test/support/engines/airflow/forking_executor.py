"""Runs each task in a fork of the scheduler, which has loaded Airflow; the executors that do so refuse SQLite."""

from airflow import settings
from airflow.executors.local_executor import LocalWorker
from airflow.executors.sequential_executor import SequentialExecutor


class ForkingExecutor(SequentialExecutor):
    def sync(self):
        for key, command in self.commands_to_run:
            # A fork must not share connections to the database.
            settings.engine.dispose()
            state = LocalWorker(None, key, command)._execute_work_in_fork(command)
            self.change_state(key, state)
        self.commands_to_run = []
