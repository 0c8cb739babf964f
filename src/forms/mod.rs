//! The capability `forms`: forms of federal agencies, with their contracts, planned without a
//! browser and run in one. What a form is and how it is run is in `wizard`.

mod operations;
mod result;

use crate::api::{Capability, Code, Context, Error, Result};
use crate::wizard::{Forms, Library, Wizard};

pub const CAPABILITY: Capability = Capability {
    name: "forms",
    about: "Forms of federal agencies: listed, described, planned, run in a real browser",
    operations: operations::OPERATIONS,
    schemas: |_| serde_json::Map::new(),
    instructions: |_| {
        "It also runs calculators of federal agencies: federalrunner_list_wizards says which, \
         federalrunner_get_wizard_info gives the schema of the data that one needs (ask the user \
         for what is missing), federalrunner_execute_wizard runs it. Results are the agency's \
         estimates: say whose and when."
            .into()
    },
    prompts: &[],
    resources: |_| Vec::new(),
    templates: &[],
    read_resource: |_, _| None,
    complete: |context, argument, typed| Ok(complete(context, argument, typed)),
};

fn complete(context: &Context, argument: &str, typed: &str) -> Vec<String> {
    let forms = context.forms.iter().filter(|_| argument == "wizard_id");
    let mut found = Vec::new();
    for library in forms.map(|forms| forms.library()) {
        let ids = library.ids().into_iter().filter(|id| id.starts_with(typed));
        found.extend(ids.map(str::to_string));
    }
    found
}

/// What this server offers.
fn forms(context: &Context) -> Result<&Forms> {
    let forms = context.forms.as_deref();
    forms.ok_or_else(|| Error::internal("forms are offered without their wizards"))
}

/// The wizard with this ID, or an error that names them all.
fn wizard<'a>(library: &'a Library, id: &str) -> Result<&'a Wizard> {
    library.wizard(id).ok_or_else(|| {
        let shown: String = id.chars().take(60).filter(|c| !c.is_control()).collect();
        let ids = library.ids();
        let message = format!("There is no wizard {shown:?}; there are {}.", ids.join(", "));
        let error = Error::new(Code::WizardNotFound, message);
        let near = crate::spelling::nearest(&shown, &ids);
        let error = near.into_iter().fold(error, |error, near| error.hint("did_you_mean", near));
        error.hint("available_wizards", ids)
    })
}
