// Lists all roles. To add a role, create its folder and add a line here. The code of a role is loaded on demand.
import type { RoleOutline } from './kernel/role/role.ts'
import { outline as consensus } from './roles/consensus/outline.ts'
import { outline as edge } from './roles/edge/outline.ts'
import { outline as gateway } from './roles/gateway/outline.ts'
import { outline as hub } from './roles/hub/outline.ts'
import { outline as ingest } from './roles/ingest/outline.ts'
import { outline as intelligence } from './roles/intelligence/outline.ts'
import { outline as proxy } from './roles/proxy/outline.ts'
import { outline as resolution } from './roles/resolution/outline.ts'
import { outline as site } from './roles/site/outline.ts'

export const roles: readonly RoleOutline[] = [
  site,
  consensus,
  hub,
  resolution,
  intelligence,
  ingest,
  proxy,
  gateway,
  edge,
]
