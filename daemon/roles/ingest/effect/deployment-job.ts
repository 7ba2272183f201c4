// The deployment of an effect as a job.

import { refuseHttpPlaces } from '../http-target/find-http-target.ts'
import { refuseZoneOfEffect } from '../landing-zone/change-zone.ts'
import { deploymentJobOf } from '../managed-dag/deployment-job.ts'
import { readEffect } from './assemble.ts'
import { effects } from './model.ts'

export const effectDeploymentJob = deploymentJobOf({
  name: 'effect-deployment',
  collection: effects,
  read: readEffect,
  claim: async (call, { value }, dag) => refuseZoneOfEffect(dag) ?? refuseHttpPlaces(call, dag.tasks, value),
})
