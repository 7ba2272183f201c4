// The one list of roles; adding a role is a folder and a line here.
import type { Role } from './kernel/role.ts'
import { consensus } from './roles/consensus/role.ts'
import { hub } from './roles/hub/role.ts'
import { site } from './roles/site/role.ts'

export const roles: readonly Role[] = [site, consensus, hub]
