/**
 * A project of any size, as people write them: features in folders, each with its module, controllers, services and
 * webhooks, one class per file. The same number of classes gives the same files, to the byte.
 */
import * as fs from 'node:fs'
import path from 'node:path'

interface Feature {
  /** The feature and its folder: `billing`. */
  name: string
  controllers: string[]
  services: Service[]
  webhooks: Topic[]
}

interface Service {
  /** The resource: `invoices`. */
  noun: string
  feature: Feature
  /** The services on which it depends. All were made before it. */
  needs: Service[]
}

interface Topic {
  name: string
  events: [string, string]
}

const areas = [
  ...['billing', 'catalogue', 'shipping', 'warehouse', 'returns', 'loyalty', 'suppliers', 'payroll', 'support'],
  ...['marketing', 'pricing', 'tax', 'fraud', 'reporting', 'identity', 'messaging', 'scheduling', 'inventory'],
  ...['procurement', 'contracts', 'projects', 'assets', 'training', 'recruiting', 'events', 'venues', 'fleet'],
  ...['maintenance', 'quality', 'safety', 'compliance', 'partners', 'affiliates', 'content', 'media', 'surveys'],
  ...['analytics', 'insurance', 'leasing', 'energy'],
]

/** At least as many nouns as one feature has controllers. */
const nouns = [
  ...['invoices', 'payments', 'customers', 'accounts', 'orders', 'products', 'categories', 'discounts', 'vouchers'],
  ...['addresses', 'shipments', 'parcels', 'carriers', 'routes', 'locations', 'batches', 'counts', 'adjustments'],
  ...['requests', 'approvals', 'comments', 'attachments', 'templates', 'campaigns', 'segments', 'rules', 'alerts'],
  ...['reports', 'exports', 'imports', 'members', 'teams', 'roles', 'sessions', 'devices', 'messages', 'threads'],
  ...['reminders', 'bookings', 'slots', 'resources', 'contracts', 'clauses', 'milestones', 'tasks', 'entries'],
  ...['balances', 'transfers', 'reviews', 'ratings'],
]

const topics: Topic[] = [
  { name: 'invoices', events: ['invoice.paid', 'invoice.payment_failed'] },
  { name: 'charges', events: ['charge.succeeded', 'charge.refunded'] },
  { name: 'subscriptions', events: ['customer.subscription.created', 'customer.subscription.deleted'] },
  { name: 'payouts', events: ['payout.paid', 'payout.failed'] },
  { name: 'disputes', events: ['charge.dispute.created', 'charge.dispute.closed'] },
  { name: 'checkouts', events: ['checkout.session.completed', 'checkout.session.expired'] },
  { name: 'customers', events: ['customer.created', 'customer.deleted'] },
  { name: 'intents', events: ['payment_intent.succeeded', 'payment_intent.payment_failed'] },
]

/** Number of controllers that share one file of permissions: about the size of a large feature. */
const controllersPerShared = 25

/** The role that has every permission of the controllers. */
export const roles = [{ name: 'clerk', default: false, permissions: nouns.map((noun) => `${noun}.*`) }]

/**
 * @param classes how many there are altogether, at least 10: 60 % controllers, 28 % services, 8 % webhooks and 4 %
 * modules, the root among them.
 * @returns contents by path.
 */
export function generateProject(classes: number): Map<string, string> {
  if (classes < 10) throw new RangeError('a project has at least 10 classes: one of every kind, and what they need')
  const modules = Math.max(2, Math.round(classes * 0.04))
  const webhooks = Math.round(classes * 0.08)
  const services = Math.round(classes * 0.28)
  const controllers = classes - modules - webhooks - services
  const features = planFeatures(modules - 1, { controllers, services, webhooks })

  const files = new Map<string, string>()
  files.set('stack/project.json', '{ "project": "bench" }\n')
  files.set('stack/roles.json', `${JSON.stringify({ roles })}\n`)
  files.set('src/app.module.ts', rootModule(features))
  let controllersSoFar = 0
  for (const [index, feature] of features.entries()) {
    const needed = new Set(feature.services.flatMap(({ needs }) => needs.map((service) => service.feature)))
    for (const service of feature.services) files.set(`src/${serviceFile(service)}`, serviceSource(service))
    for (const [position, noun] of feature.controllers.entries()) {
      const shared = Math.floor(controllersSoFar / controllersPerShared)
      const used = servicesOf(features, index, position)
      for (const service of used) needed.add(service.feature)
      files.set(`src/${feature.name}/${noun}.controller.ts`, controllerSource(feature, noun, used, shared))
      if (controllersSoFar++ % controllersPerShared === 0) files.set(`src/${sharedFile(shared)}`, sharedSource(shared))
    }
    for (const topic of feature.webhooks) {
      files.set(`src/${feature.name}/${topic.name}.webhook.ts`, webhookSource(feature, topic))
    }
    needed.delete(feature)
    files.set(`src/${moduleFile(feature)}`, moduleSource(feature, [...needed]))
  }
  return files
}

/** @param root absolute. The folder is made if it does not exist. */
export function writeProject(files: ReadonlyMap<string, string>, root: string): void {
  for (const [name, contents] of files) {
    const file = path.join(root, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, contents)
  }
}

// The features and their classes

function planFeatures(count: number, totals: { controllers: number; services: number; webhooks: number }): Feature[] {
  const features: Feature[] = []
  for (let index = 0; index < count; index++) {
    const part = <T>(list: readonly T[], total: number) => list.slice(0, share(total, count, index))
    const lap = Math.floor(index / areas.length)
    const area = areas[index % areas.length]!
    const feature: Feature = {
      name: lap === 0 ? area : `${area}-${lap + 1}`,
      controllers: part(nouns, totals.controllers),
      services: [],
      webhooks: part(topics, totals.webhooks),
    }
    features.push(feature)
    for (const [position, noun] of part(nouns, totals.services).entries()) {
      feature.services.push({ noun, feature, needs: needsOf(features, position) })
    }
  }
  return features
}

/** The share of one part in a total. Shares are equal or differ by one. */
function share(total: number, parts: number, index: number): number {
  return Math.floor((total * (index + 1)) / parts) - Math.floor((total * index) / parts)
}

/** In turn: no service, the previous one, the previous one and one of another feature, or only the latter. */
function needsOf(features: readonly Feature[], position: number): Service[] {
  const index = features.length - 1
  const previous = features[index]!.services[position - 1]
  const foreign = foreignService(features, index, position)
  const needs = [[], [previous], [previous, foreign], [foreign]][position % 4]!
  return needs.filter((service) => service !== undefined)
}

/** A service of a much earlier feature: dependencies between features are few, and never deep. */
function foreignService(features: readonly Feature[], index: number, position: number): Service | undefined {
  if (index === 0) return undefined
  const { services } = features[position % 2 === 0 ? (index - 1) >> 1 : Math.floor(index / 3)]!
  return services[position % services.length]
}

/** The service of the noun, or another one of the feature. Every third controller also uses another feature. */
function servicesOf(features: readonly Feature[], index: number, position: number): Service[] {
  const { services } = features[index]!
  const own = services[position % services.length]!
  const foreign = position % 3 === 0 ? foreignService(features, index, position) : undefined
  return foreign ? [own, foreign] : [own]
}

// Names of classes and files

function pascal(name: string): string {
  return name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())
}

function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/(?<=ch|ss)es$|s$/, '')
}

const moduleClass = ({ name }: Feature) => `${pascal(name)}Module`
const moduleFile = ({ name }: Feature) => `${name}/${name}.module.ts`
const serviceClass = ({ feature, noun }: Service) => `${pascal(feature.name)}${pascal(noun)}Service`
const serviceFile = ({ feature, noun }: Service) => `${feature.name}/${noun}.service.ts`
const rowType = ({ noun }: Service) => `${pascal(singular(noun))}Row`
const sharedFile = (index: number) => `shared/permissions-${index + 1}.ts`
const controllerClass = ({ name }: Feature, noun: string) => `${pascal(name)}${pascal(noun)}Controller`
const webhookClass = ({ name }: Feature, topic: Topic) => `${pascal(name)}${pascal(topic.name)}Webhook`

interface Field {
  field: string
  service: Service
}

/** Two features may have services of one noun. The other feature's name tells them apart. */
function fieldsOf(feature: Feature, services: readonly Service[]): Field[] {
  return services.map((service) => {
    const isOwn = service.feature === feature
    const words = isOwn ? service.noun : `${service.feature.name}-${service.noun}`
    return { field: words.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()), service }
  })
}

/** @param to relative to `src`. All importing files lie in folders below it. */
function importOf(names: string, feature: Feature, to: string): string {
  const isNear = to.startsWith(`${feature.name}/`)
  return `import { ${names} } from '${isNear ? `./${to.slice(feature.name.length + 1)}` : `../${to}`}'`
}

/** A constructor with one parameter stands on one line. */
function constructorOf(fields: readonly Field[]): string {
  const parameters = fields.map(({ field, service }) => `private readonly ${field}: ${serviceClass(service)}`)
  return parameters.length === 1
    ? `  constructor(${parameters[0]}) {}\n`
    : `  constructor(\n${parameters.map((one) => `    ${one},\n`).join('')}  ) {}\n`
}

// Source texts

function rootModule(features: readonly Feature[]): string {
  return `import { Module } from '@stack/backend'
${features.map((feature) => `import { ${moduleClass(feature)} } from './${moduleFile(feature)}'`).join('\n')}

/** Everything that the backend is made of. */
@Module({
  imports: [
${features.map((feature) => `    ${moduleClass(feature)},`).join('\n')}
  ],
})
export class AppModule {}
`
}

function moduleSource(feature: Feature, needed: readonly Feature[]): string {
  const controllers = feature.controllers.map((noun) => ({
    name: controllerClass(feature, noun),
    file: `${feature.name}/${noun}.controller.ts`,
  }))
  const services = feature.services.map((service) => ({ name: serviceClass(service), file: serviceFile(service) }))
  const webhooks = feature.webhooks.map((topic) => ({
    name: webhookClass(feature, topic),
    file: `${feature.name}/${topic.name}.webhook.ts`,
  }))
  const imports = needed.map((other) => ({ name: moduleClass(other), file: moduleFile(other) }))
  const list = (key: string, items: readonly { name: string }[]) =>
    items.length === 0 ? '' : `  ${key}: [\n${items.map(({ name }) => `    ${name},`).join('\n')}\n  ],\n`
  return `import { Module } from '@stack/backend'
${[...imports, ...controllers, ...services, ...webhooks].map(({ name, file }) => importOf(name, feature, file)).join('\n')}

/** What ${feature.name} serves, and what it lets others use. */
@Module({
${list('imports', imports)}${list('controllers', controllers)}${list('providers', [...services, ...webhooks])}})
export class ${moduleClass(feature)} {}
`
}

function sharedSource(index: number): string {
  const noun = nouns[index % nouns.length]!
  return `/** Permissions that several controllers ask for: roles are granted them in stack/roles.json. */
export const Perm = { read: '${noun}.read', write: '${noun}.write' } as const
`
}

function controllerSource(feature: Feature, noun: string, services: readonly Service[], shared: number): string {
  const fields = fieldsOf(feature, services)
  const [own, foreign] = fields
  const one = singular(noun)
  const row = rowType(own!.service)
  const imports = fields.map(({ service }, index) =>
    importOf(`${serviceClass(service)}${index === 0 ? `, type ${row}` : ''}`, feature, serviceFile(service)),
  )
  const counted = foreign ? `, limit: await this.${foreign.field}.limit()` : ''
  return `import {
  Body, Controller, Delete, Get, HttpError, Log, Param, Post, Query, RequestId, User, type UserT,
} from '@stack/backend'
${importOf('Perm', feature, sharedFile(shared))}
${imports.join('\n')}

/** The ${noun} of ${feature.name}, for those who may read them. */
@Controller('/${feature.name}/${noun}', { auth: { permission: Perm.read } })
export class ${controllerClass(feature, noun)} {
${constructorOf(fields)}
  @Get()
  list(@Query('page') page: string | undefined, @Query('sort') sort: string | undefined): Promise<${row}[]> {
    return this.${own!.field}.visible()
  }

  @Get('search')
  async search(@Query('name') name: string | undefined, @User() user: UserT) {
    if (!name) throw new HttpError(400, 'invalid_request', 'search for a name')
    return { by: user.id, found: await this.${own!.field}.named(name)${counted} }
  }

  @Get(':id')
  show(@Param('id') id: string, @User() user: UserT): Promise<${row}> {
    return this.${own!.field}.one(id)
  }

  @Post('', { status: 201 })
  create(@Body() body: unknown, @User() user: UserT, @RequestId() request: string): Promise<${row}> {
    const { name } = (body ?? {}) as { name?: unknown }
    if (typeof name !== 'string') throw new HttpError(400, 'invalid_request', 'the ${one} needs a name')
    return this.${own!.field}.create(name)
  }

  @Delete(':id')
  async remove(@Param('id') id: string, @User() user: UserT): Promise<void> {
    await this.${own!.field}.remove(id)
    Log.info('the ${one} is removed', { id, by: user.id })
  }
}
`
}

function serviceSource(service: Service): string {
  const { feature, noun, needs } = service
  const fields = fieldsOf(feature, needs)
  const row = rowType(service)
  const table = `${feature.name}_${noun}`.replaceAll('-', '_')
  const limits = ['500', ...fields.map(({ field }) => `await this.${field}.limit()`)]
  return `import { Database, HttpError, Injectable } from '@stack/backend'
${fields.map(({ service }) => `${importOf(serviceClass(service), feature, serviceFile(service))}\n`).join('')}
export interface ${row} {
  id: string
  name: string
  created_at: string
}

/** The queries run as the caller: row-level security decides which ${noun} there are. */
@Injectable()
export class ${serviceClass(service)} {
${fields.length > 0 ? `${constructorOf(fields)}\n` : ''}  visible(): Promise<${row}[]> {
    return Database.sql<${row}>\`select id, name, created_at from ${table} order by id\`
  }

  named(name: string): Promise<${row}[]> {
    return Database.sql<${row}>\`select * from ${table} where name ilike \${name} order by id\`
  }

  async one(id: string): Promise<${row}> {
    const [row] = await Database.sql<${row}>\`select * from ${table} where id = \${id}\`
    if (!row) throw new HttpError(404, 'not_found', \`there is no ${singular(noun)} \${id}\`)
    return row
  }

  async create(name: string): Promise<${row}> {
    const [row] = await Database.sql<${row}>\`insert into ${table} (name) values (\${name}) returning *\`
    return row!
  }

  async remove(id: string): Promise<void> {
    await Database.sql\`delete from ${table} where id = \${id}\`
  }

  /** How many ${noun} one answer may hold. */
  async limit(): Promise<number> {
    return ${limits.length === 1 ? limits[0] : `Math.min(${limits.join(', ')})`}
  }
}
`
}

function webhookSource(feature: Feature, topic: Topic): string {
  const name = `${feature.name}-${topic.name}`
  const secret = `STRIPE_${name.replaceAll('-', '_').toUpperCase()}`
  const table = `${feature.name}_${topic.name}_events`.replaceAll('-', '_')
  const [first, second] = topic.events
  return `import { Database, Log, On, Webhook, type WebhookMeta } from '@stack/backend'

interface Delivery {
  id: string
  data: { object: { id: string; customer: string | null } }
}

/** Nobody is signed in here, so the rows are written as the service. */
@Webhook({ name: '${name}', provider: 'stripe', secret: { env: '${secret}' } })
export class ${webhookClass(feature, topic)} {
  @On('${first}')
  async began({ id, data }: Delivery, meta: WebhookMeta): Promise<void> {
    await Database.$asService().sql\`
      insert into ${table} (event, object, state) values (\${id}, \${data.object.id}, 'open')
      on conflict do nothing\`
    Log.info('a delivery is noted', { event: meta.event, request: meta.requestId })
  }

  @On('${second}')
  async ended({ data }: Delivery): Promise<void> {
    const rows = await Database.$asService().sql\`
      update ${table} set state = 'closed'
      where object = \${data.object.id} and state = 'open' returning id\`
    if (rows.length === 0) Log.warn('nothing of that kind is open', { customer: data.object.customer })
  }
}
`
}
