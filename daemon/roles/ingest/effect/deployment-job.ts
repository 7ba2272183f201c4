// The deployment of an effect as a job.
import { deploymentJobOf } from '../managed-dag/deployment-job.ts'
import { readEffect } from './assemble.ts'
import { effects } from './model.ts'

export const effectDeploymentJob = deploymentJobOf({ name: 'effect-deployment', collection: effects, read: readEffect })
