/** `@stack/backend`: everything that a project imports (contract 2). No other file re-exports. */

export { standardWebhooks } from '../wire/webhook-schemes.ts'
export {
  Auth,
  Database,
  type DatabaseSession,
  Log,
  type NotificationMessage,
  Notifications,
  Secrets,
  Storage,
} from './ambient.ts'
export { Cron } from './cron.ts'
export { HttpError, type HttpErrorDetails, OutsideRequest, RoleNotDefined, TransportError } from './errors.ts'
export type { AuthRule, StackRoleName, StackRoles } from './gates.ts'
export { Body, Client, Header, OptionalUser, Param, Query, Req, RequestId, TraceId, User } from './injectors.ts'
export { type CorsOptions, Injectable, Module, type ModuleOptions, type Recipe } from './modules.ts'
export {
  Controller,
  type ControllerOptions,
  Delete,
  Get,
  Patch,
  Post,
  Put,
  type RateLimit,
  type RouteOptions,
} from './routes.ts'
export type { StandardSchema } from './schema.ts'
export type { StorageBucket, StoredBody, StoredObject } from './storage.ts'
export type { AttestedDevice, UserT } from './user.ts'
export { On, type SignatureSpec, Webhook, type WebhookMeta, type WebhookOptions } from './webhooks.ts'
