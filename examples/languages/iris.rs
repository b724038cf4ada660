// Trains on iris.csv and prints the species of the flowers in new.csv, in Rust: the functions of
// enhope.h declared by hand.
//
//   enhope examples .
//   rustc iris.rs -l enhope && ./iris
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Source {
    path: *const c_char,
    part: *const c_char,
    label: *const c_char,
    split: *const c_char,
    model: *const c_void,
    variables: *const c_char,
    limit: i64,
    classes: *const c_char,
    table: *const c_void,
}

#[repr(C)]
struct Prediction {
    label: *mut i32,
    others: [*mut c_void; 16], // outputs that are NULL are not computed
}

extern "C" {
    fn enhope_context_create() -> *mut c_void;
    fn enhope_context_free(ctx: *mut c_void);
    fn enhope_error(ctx: *const c_void) -> *const c_char;
    fn enhope_dataset_read(ctx: *mut c_void, source: *const Source, out: *mut *mut c_void) -> c_int;
    fn enhope_dataset_free(data: *mut c_void);
    fn enhope_dataset_get_info(data: *const c_void, out: *mut i64);
    fn enhope_train(
        ctx: *mut c_void,
        data: *const c_void,
        settings: *const c_void,
        progress: *const c_void,
        user: *mut c_void,
        out: *mut *mut c_void,
    ) -> c_int;
    fn enhope_model_predict(ctx: *mut c_void, model: *const c_void, data: *const c_void, k: i32, out: *const Prediction)
        -> c_int;
    fn enhope_model_class_name(model: *const c_void, class: i32) -> *const c_char;
    fn enhope_model_free(model: *mut c_void);
}

/// A context. Its methods return the message of a failure.
struct Enhope(*mut c_void);

impl Enhope {
    fn check(&self, status: c_int) -> Result<(), String> {
        match status {
            0 => Ok(()),
            _ => Err(unsafe { CStr::from_ptr(enhope_error(self.0)) }.to_string_lossy().into_owned()),
        }
    }

    fn read(&self, path: &str, model: *const c_void) -> Result<*mut c_void, String> {
        let (path, none) = (CString::new(path).unwrap(), CString::new("none").unwrap());
        let label = if model.is_null() { null() } else { none.as_ptr() };
        let source = Source {
            path: path.as_ptr(),
            part: null(),
            label,
            split: null(),
            model,
            variables: null(),
            limit: 0,
            classes: null(),
            table: null(),
        };
        let mut data = null_mut();
        self.check(unsafe { enhope_dataset_read(self.0, &source, &mut data) })?;
        Ok(data)
    }

    fn run(&self) -> Result<(), String> {
        unsafe {
            let train = self.read("iris.csv", null())?;
            let mut model = null_mut();
            self.check(enhope_train(self.0, train, null(), null(), null_mut(), &mut model))?;
            let fresh = self.read("new.csv", model)?;
            let mut info = [0i64; 64]; // enhope_dataset_info begins with n
            enhope_dataset_get_info(fresh, info.as_mut_ptr());
            let mut label = vec![0i32; info[0] as usize];
            let out = Prediction { label: label.as_mut_ptr(), others: [null_mut(); 16] };
            self.check(enhope_model_predict(self.0, model, fresh, 0, &out))?;
            for one in label {
                println!("{}", CStr::from_ptr(enhope_model_class_name(model, one)).to_string_lossy());
            }
            enhope_dataset_free(fresh);
            enhope_model_free(model);
            enhope_dataset_free(train);
        }
        Ok(())
    }
}

fn main() {
    let enhope = Enhope(unsafe { enhope_context_create() });
    let result = enhope.run();
    unsafe { enhope_context_free(enhope.0) };
    if let Err(message) = result {
        eprintln!("iris: {message}");
        std::process::exit(1);
    }
}
