// The site that a process belongs to, and the deployment profiles that it may have.
import type { LabelPolicy } from '../label/label.ts'

/** Facts about the site that every role may read. */
export type Site = {
  readonly name: string
  readonly tenant_id: string
  readonly deployment_profile: DeploymentProfile
  readonly labels: LabelPolicy
  /** Level of an object that is made without a label. */
  readonly default_level: string
}

export const deploymentProfiles = [
  'single_cluster',
  'multi_tenant_cloud',
  'customer_onprem',
  'coalition_federated',
  'classified_airgapped',
] as const
export type DeploymentProfile = (typeof deploymentProfiles)[number]
