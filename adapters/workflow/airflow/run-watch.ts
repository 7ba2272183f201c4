// How the site follows runs that it triggers, of DAGs that it manages: Airflow reports no end of a run.
import type { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type {
  RunTrigger,
  WorkflowRun,
  WorkflowTask,
} from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import type { ManagedName } from './dag-names.ts'

export type RunWatch = {
  /** Before each trigger: durable when it resolves. A refusal is that of the trigger. */
  begin(call: Call, dag: ManagedName, trigger: RunTrigger): Promise<undefined | Refusal>
  /** Before a person stops a run. False for one that is not watched, or that a person has stopped before. */
  stop(call: Call, dag: ManagedName, dag_run_id: string): Promise<boolean>
  /** After Airflow has refused to stop a run. */
  goOn(call: Call, dag: ManagedName, dag_run_id: string): Promise<void>
  /** After the state of a run was changed. */
  look(call: Call, dag: ManagedName, dag_run_id: string): Promise<void>
  /** Before a run that is over is deleted. */
  settle(
    call: Call,
    dag: ManagedName,
    end: { readonly run: WorkflowRun; readonly tasks: readonly WorkflowTask[] },
  ): Promise<void>
}
