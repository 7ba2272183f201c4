// Names of DAGs at Airflow: one that the site manages has the uid of its object in it, so that tenants and objects stay apart.
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { Call } from '../../../daemon/kernel/operation/call.ts'
import type { DagRef } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'

/** A DAG of a pipeline or an effect that the caller sees. */
export type ManagedName = {
  readonly dag_id: string
  readonly uid: string
  readonly tenant_id: string
  readonly label: Label
  /** Of its live content; empty before there is one. */
  readonly dag_digest: string
}

/** A DAG by its name at Airflow, and by that of the site. */
export type NamedDag = { readonly airflow_id: string; readonly dag_id: string; readonly managed?: ManagedName }

/** The objects that a caller sees; the role looks into its store. */
export type DagNames = {
  find(call: Call, dag: DagRef): Promise<ManagedName | undefined>
  list(call: Call): AsyncIterable<ManagedName>
}

export function managedName({ dag_id, uid }: Pick<ManagedName, 'dag_id' | 'uid'>): string {
  return `${dag_id}.${uid}`
}

/** Whether a name at Airflow is that of a DAG which a site manages. */
export function isManagedName(airflow_id: string): boolean {
  return /\.(?:pl|ef)_[0-9A-Za-z_-]+$/.test(airflow_id)
}

/** The tag of a version of a DAG: Airflow shows it once it has read the file. */
export function versionTag(digest: string): string {
  return `v-${digest.slice(0, 16)}`
}
