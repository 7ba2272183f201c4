// Roles in pods that share no folder: each has a state folder of its own, and requests the others at their Services by its role certificate.
import { selectPods } from './kubernetes-object.ts'

/** A role of the site, as others find it. */
export type PlacedRole = { readonly role: string; readonly service: string; readonly port: number }

/** Has the folder that `platform init` made, with the keys of the site; there is one. */
const first_role = 'site'
/** Its listener is for the public: no role requests it there. */
const public_role = 'proxy'

export const profile_folder = '/etc/platform'
export const state_folder = '/var/lib/platform'
const secret_folder = '/etc/platform-role'
const state_size = '10Gi'

/** The variables of the interface documents; any other role has its URL in PLATFORM_ROLE_URLS. */
const documentedUrls = new Map([
  ['intelligence', 'INTELLIGENCE_URL'],
  ['resolution', 'ENTITY_RESOLUTION_URL'],
])

export function hasRoleListener(role: string): boolean {
  return role !== public_role
}

/** Where the others are, as variables. `outside`: URLs of roles that do not run in the cluster. */
export function describeRoleUrls(
  role: string,
  roles: readonly PlacedRole[],
  outside: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const others = roles.filter((other) => other.role !== role && hasRoleListener(other.role))
  const urls = [
    ...Object.entries(outside).filter(([name]) => roles.every((placed) => placed.role !== name)),
    ...others.map((other): [string, string] => [other.role, `https://${other.service}:${other.port}`]),
  ]
  const documented = urls.flatMap(([other, url]) => {
    const variable = documentedUrls.get(other)
    return variable === undefined ? [] : [[variable, url]]
  })
  const general = urls.filter(([other]) => !documentedUrls.has(other)).sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    ...Object.fromEntries(documented),
    ...(general.length > 0 ? { PLATFORM_ROLE_URLS: JSON.stringify(Object.fromEntries(general)) } : {}),
  }
}

/** `prefix`: with which the variables of the role begin. Its certificate is also that of its listener. */
export function describeRoleListener(role: string, prefix: string): Readonly<Record<string, string>> {
  // The profile of the site has it on, and no listener of this role may admit roles.
  if (!hasRoleListener(role)) return { PLATFORM_ROLE_ACCEPT_CERTIFICATES: 'false' }
  const file = `${state_folder}/identity/roles/${role}/certificates/role.pem`
  return {
    [`${prefix}_TLS_CERT_FILE`]: file,
    [`${prefix}_TLS_KEY_FILE`]: file,
    PLATFORM_ROLE_ACCEPT_CERTIFICATES: 'true',
  }
}

/** Whether the pods have a claim each, filled from the Secret of the role. */
export function hasOwnState(role: string): boolean {
  return role !== first_role
}

export const secretVolume = (role: string) => ({
  name: 'identity',
  // Read by the group of the pod alone.
  secret: { secretName: `platform-role-${role}`, defaultMode: 0o440 },
})

export const stateClaim = {
  metadata: { name: 'state' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: state_size } } },
}

/**
 * Copies the files of the role from its Secret: keys must belong to the user of the role, in folders that nobody else may read, and
 * the role replaces the lists among them. At each start, so that a renewed certificate needs another Secret and a restart.
 */
export function renderIdentityCopy(image: string, securityContext: object) {
  return {
    name: 'identity',
    image,
    command: ['sh', '-c', `umask 077 && tar -xpf ${secret_folder}/identity.tar -C ${state_folder}`],
    resources: { requests: { cpu: '50m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } },
    securityContext,
    volumeMounts: [
      { name: 'identity', mountPath: secret_folder, readOnly: true },
      { name: 'state', mountPath: state_folder },
    ],
  }
}

/** Of a set of pods with a claim each, in place of what a Deployment has. */
export function describeSet(service: string) {
  return { serviceName: service, replicas: 1, selector: { matchLabels: selectPods(service) } }
}
