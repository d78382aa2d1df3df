import '@stack/backend'

declare module '@stack/backend' {
  interface StackRoles {
    insider: true
  }
}
