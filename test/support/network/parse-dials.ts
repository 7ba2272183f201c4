// Addresses in the output of strace: whom a process dialled, or sent a datagram.

/** `port` is undefined for a socket file. */
export type DialledAddress = { readonly host: string; readonly port?: number }

const inet = /sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")/g
const unix = /sun_path=(@?)"([^"]*)"/g

/** Each once. Sockets of the kernel itself (netlink) and answers over open connections name no address. */
export function parseDials(trace: string): DialledAddress[] {
  const found = trace
    .split('\n')
    .flatMap((line) => [
      ...[...line.matchAll(inet)].map(([, port, four, six]) => ({ host: four ?? six ?? '', port: Number(port) })),
      ...[...line.matchAll(unix)].map(([, abstract = '', file = '']) => ({ host: `${abstract}${file}` })),
    ])
  return [...new Map(found.map((dial) => [JSON.stringify(dial), dial])).values()]
}

const loopback = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/** Port of DNS: a name was looked up, even if the resolver is on this machine. */
const dns_port = 53

/** Those that lead out of the machine or ask a resolver. The cache of the C library (nscd) counts as a resolver for hosts, but is dialled for users as well. */
export function findEgress(dials: readonly DialledAddress[]): DialledAddress[] {
  return dials.filter(({ host, port }) => port !== undefined && (!loopback.test(host) || port === dns_port))
}
