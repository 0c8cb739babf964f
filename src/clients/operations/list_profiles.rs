//! Which profiles a client can use.

use super::{CLIENT, client_parameter};
use crate::api::outcome::schema;
use crate::api::{Cost, Operation, Outcome, Scope, Tool};
use crate::clients::result::{ProfileList, ProfileSummary};
use crate::clients::{client, configs};

pub const OPERATION: Operation = Operation {
    name: "list_profiles",
    title: "List a client's profiles",
    about: "The profiles that a client can use, each with its latest artifact",
    route: Some("/v1/clients/{client_id}/profiles"),
    takes_body: false,
    selects: None,
    scope: Scope::Read,
    cost: Cost::Lookup,
    cost_with: None,
    is_list: false,
    endpoints: |_| OPERATION.endpoint(vec![client_parameter()], schema::<ProfileList>()),
    tools: &[Tool {
        name: "list_profiles",
        title: "List a client's profiles",
        is_offered: |_| true,
        about: |_| {
            "Profiles that a client can use: `default` is this server over HTTP, `stdio` a program \
             on the client's machine, others are the administrator's. Each with the ID and the \
             time of its latest configuration."
                .into()
        },
        examples: &["which profiles does Cursor have", "when did Codex's configuration change"],
        fixed: &[],
        arguments: &[&[CLIENT]],
        output: |_| schema::<ProfileList>(),
    }],
    run: |mut arguments, context| {
        let id = arguments.require("{client_id}")?;
        arguments.finish(&[])?;
        let client = client(&id)?;
        let profiles = configs(context)?.profiles(client).map(|(profile, offer)| ProfileSummary {
            profile_id: profile.id.clone(),
            display_name: profile.name.clone(),
            description: profile.description.clone(),
            latest_artifact_id: offer.latest.artifact_id.clone(),
            updated_at: offer.latest.created_at.clone(),
        });
        let profiles: Vec<_> = profiles.collect();
        let count = profiles.len();
        Ok(Outcome::typed(ProfileList { client_id: id, profiles, count }).whole())
    },
};
